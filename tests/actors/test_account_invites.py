"""Invites: who may issue, accept and revoke one."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
import trio
from trio.testing import MockClock

from pgs.actors.messages.account.members import AcceptInvite, CreateInvite, RevokeInvite
from pgs.actors.messages.account.settings import SetDomain
from pgs.domain.errors import BadRequest, refuse
from pgs.domain.invites import INVITE_S, Invite
from pgs.domain.members import PLATFORM, Member
from pgs.storage import accounts as rows
from pgs.storage.columns import NEWEST
from pgs.storage.invites import accept_invite, find_account_of, find_invite, invites_page
from pgs.storage.members import find_account_of as account_of_member
from pgs.storage.transactions import Outcome, Tx
from tests.actors.account_changes import Change, check_published, nothing
from tests.actors.people import ask, invite, join, skip
from tests.actors.ready_core import at, ready_core, until

ADA = "ada@acme.example"


async def test_an_invite_makes_a_member_once(tmp_path: Path, autojump_clock: MockClock) -> None:
    async with ready_core(tmp_path) as s:
        made = await invite(s, "Ada@ACME.example", "developer")
        assert (made.email, made.role, made.status(at(0)), made.expires_at) == (
            "Ada@acme.example",
            "developer",
            "pending",
            at(INVITE_S),
        )
        assert await find_account_of(s.reader, made.invite_id) == "acme"
        await until(4)
        async with Change(
            s, ("uid-ada", "invite.accepted", {"inviteId": made.invite_id, "role": "developer"})
        ):
            accepted = await ask(s, AcceptInvite("uid-ada", "ADA@acme.example", made.invite_id))
        assert accepted == await find_invite(s.reader, "acme", made.invite_id)
        assert (accepted.status(at(4)), accepted.accepted_by) == ("accepted", "uid-ada")
        assert s.account().members == {
            "uid-ada": Member("uid-ada", "ADA@acme.example", "developer", at(4))
        }
        known = s.parts.registry.member("uid-ada")
        assert known is not None
        assert (known.account, known.member.role) == (s.account(), "developer")
        assert await account_of_member(s.reader, "uid-ada") == "acme"
        async with nothing(s):
            assert await ask(
                s, AcceptInvite("uid-bob", "ada@acme.example", made.invite_id)
            ) == refuse("already_accepted")


async def test_a_member_invites_only_to_roles_that_they_may_grant(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await join(s, "ada")
        await join(s, "dev", "developer")
        made = await ask(s, CreateInvite("ada", ADA, "admin"))
        assert isinstance(made, Invite)
        async with nothing(s):
            assert await ask(s, CreateInvite("ada", "ada at acme", "admin")) == refuse(
                "invalid_email"
            )
            assert await ask(s, CreateInvite("dev", ADA, "admin")) == refuse("role_forbidden")
            assert await ask(s, CreateInvite("nobody", ADA, "viewer")) == refuse(
                "not_a_partner_admin"
            )
        assert isinstance(await ask(s, CreateInvite("dev", ADA, "developer")), Invite)


async def test_once_a_domain_is_set_invites_outside_it_are_refused(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await join(s, "ada")
        async with nothing(s):
            assert await ask(s, SetDomain("ada", ADA, "co.uk")) == refuse("invalid_domain")
            assert await ask(s, SetDomain("ada", ADA, "other.example")) == refuse(
                "address_outside_domain"
            )
        async with Change(s, ("ada", "account.domain_set", {"domain": "acme.example"})):
            account = await ask(s, SetDomain("ada", ADA, "ACME.Example"))
        assert account.admin_domain == "acme.example"
        async with nothing(s):
            assert await ask(s, SetDomain("ada", ADA, "acme.example")) == refuse(
                "domain_already_set"
            )
            assert await ask(s, CreateInvite("ada", "x@sub.acme.example", "viewer")) == refuse(
                "address_outside_domain"
            )
        assert isinstance(await ask(s, CreateInvite("ada", "x@Acme.Example", "viewer")), Invite)


async def test_the_checks_of_an_acceptance_come_in_their_order(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await s.open_partner("other")
        await join(s, "ada")
        await join(s, "eve", partner="other")
        made = [await invite(s, "x@acme.example") for _ in range(4)]
        ids = [one.invite_id for one in made]
        await ask(s, RevokeInvite(PLATFORM, ids[0]))
        await ask(s, AcceptInvite("xen", "x@acme.example", ids[1]))
        async with nothing(s):
            assert await ask(s, AcceptInvite("eve", "y@acme.example", "ivt_none")) == refuse(
                "invite_not_found"
            )
            assert await ask(s, AcceptInvite("eve", "y@acme.example", ids[0])) == refuse(
                "invite_not_found"
            )
            assert await ask(s, AcceptInvite("eve", "y@acme.example", ids[1])) == refuse(
                "already_accepted"
            )
            assert await ask(s, AcceptInvite("eve", "y@acme.example", ids[2])) == refuse(
                "wrong_address"
            )
            assert await ask(s, AcceptInvite("eve", "x@acme.example", ids[2])) == refuse(
                "already_administers_another_partner"
            )
            assert await ask(s, AcceptInvite("ada", "x@acme.example", ids[2])) == refuse(
                "already_a_member"
            )
            assert isinstance(
                await ask(s, AcceptInvite("platform", "x@acme.example", ids[2])), BadRequest
            )
        skip(s, INVITE_S - 1)
        assert isinstance(await ask(s, AcceptInvite("yve", "X@acme.example", ids[2])), Invite)
        skip(s, 1)
        assert await ask(s, AcceptInvite("zoe", "y@acme.example", ids[3])) == refuse("expired")


async def test_an_invite_of_another_account_is_not_found(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await s.open_partner("other")
        made = await invite(s, ADA, partner="other")
        assert await ask(s, AcceptInvite("ada", ADA, made.invite_id)) == refuse("invite_not_found")
        assert await ask(s, RevokeInvite(PLATFORM, made.invite_id)) == refuse("invite_not_found")


async def test_a_revoked_invite_is_gone_and_an_accepted_one_cannot_be_revoked(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        one, two = await invite(s, ADA), await invite(s, ADA)
        async with Change(s, ("ada", "invite.revoked", {"inviteId": one.invite_id})):
            revoked = await ask(s, RevokeInvite("ada", one.invite_id))
        assert revoked == await find_invite(s.reader, "acme", one.invite_id)
        assert revoked.status(at(0)) == "revoked"
        await ask(s, AcceptInvite("ada", ADA, two.invite_id))
        async with nothing(s):
            assert await ask(s, RevokeInvite("ada", one.invite_id)) == refuse("invite_not_found")
            assert await ask(s, RevokeInvite("ada", two.invite_id)) == refuse("already_accepted")


async def test_revoking_an_invite_that_is_accepted_at_that_moment_is_refused(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ready_core(tmp_path) as s:
        made = await invite(s, ADA)
        was = s.account()
        writer = s.parts.database.writer

        async def claim_first(tx: Tx) -> Outcome:
            monkeypatch.undo()
            after = msgspec.structs.replace(was, revision=was.revision + 1)
            await s.write_without_the_actors(
                accept_invite("acme", made.invite_id, "ada"), rows.update_partner(was, after)
            )
            return await writer.submit(tx)

        monkeypatch.setattr(writer, "submit", claim_first)
        assert await ask(s, RevokeInvite(PLATFORM, made.invite_id)) == refuse("partner_changed")


async def test_invites_are_listed_from_the_newest_on_in_pages(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        made = [(await invite(s, f"x{number}@acme.example")).invite_id for number in range(5)]
        first = await invites_page(s.reader, "acme", NEWEST, 3)
        rest = await invites_page(s.reader, "acme", first[-1][0], 10)
        listed = [one.invite_id for _, one in first + rest]
        assert (listed[:5], len(listed)) == (
            made[::-1],
            6,
        )  # the last one was for the first admin


async def test_a_user_who_accepts_invites_of_two_accounts_at_once_joins_one(tmp_path: Path) -> None:
    async with ready_core(tmp_path, threaded=True) as s:
        await s.open_partner("other")
        invites = {
            partner: (await invite(s, ADA, partner=partner)).invite_id
            for partner in ("acme", "other")
        }
        replies: dict[str, Any] = {}

        async def accept(partner: str) -> None:
            replies[partner] = await ask(s, AcceptInvite("ada", ADA, invites[partner]), partner)

        async with trio.open_nursery() as nursery:
            for partner in invites:
                nursery.start_soon(accept, partner)
        (winner,) = [partner for partner, reply in replies.items() if isinstance(reply, Invite)]
        (loser,) = set(invites) - {winner}
        assert replies[loser] == refuse("already_administers_another_partner")
        assert (len(s.account(winner).members), len(s.account(loser).members)) == (1, 0)
        known = s.parts.registry.member("ada")
        assert known is not None
        assert known.account.partner_id == winner


async def test_an_invite_that_many_accept_at_once_makes_one_member(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        made = await invite(s, ADA)
        replies: list[Any] = []

        async def accept(uid: str) -> None:
            replies.append(await ask(s, AcceptInvite(uid, ADA, made.invite_id)))

        async with trio.open_nursery() as nursery:
            for number in range(20):
                nursery.start_soon(accept, f"uid-{number}")
        assert sum(isinstance(reply, Invite) for reply in replies) == 1
        assert replies.count(refuse("already_accepted")) == 19
        assert len(s.account().members) == 1
        await check_published(s)
