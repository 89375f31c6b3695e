"""Members and invites: who joins, in what role, and who leaves."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
import trio
from trio.testing import MockClock

from pgs.actors.kernel.mail import Command
from pgs.actors.messages.account.factors import EnrollTotp, VerifyTotp
from pgs.actors.messages.account.keys import KeyMinted, MintKey, RevokeKey
from pgs.actors.messages.account.lifecycle import EmergencyStop, SwitchAccount
from pgs.actors.messages.account.people import (
    AcceptInvite,
    ChangeRole,
    CreateInvite,
    RemoveMember,
    RevokeInvite,
)
from pgs.actors.messages.account.settings import AddOrigin, SetDomain
from pgs.domain.accounts import Account
from pgs.domain.errors import BadRequest, refuse
from pgs.domain.invites import INVITE_S, Invite
from pgs.domain.members import PLATFORM, Member
from pgs.domain.roles import Role, rule_of
from pgs.domain.stepup import Factor
from pgs.storage import accounts as rows
from pgs.storage.factors import find_factor, put_factor
from pgs.storage.invites import END, accept_invite, find_account_of, find_invite, invites_page
from pgs.storage.members import find_account_of as account_of_member
from pgs.storage.members import insert_member, set_role
from tests.actors.people import ask, enrol, invite, join, skip
from tests.actors.ready_core import ReadyCore, at, ready_core, until
from tests.actors.test_account import Change, nothing

ADA = "ada@acme.example"


async def check_published(s: ReadyCore) -> None:
    """Check that rows and registry agree on the account."""
    assert await rows.read_account(s.reader, "acme") == s.account()


# --- invites ---


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


async def test_an_invite_is_issued_with_its_event_by_whoever_may_grant_the_role(
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


async def test_the_reasons_against_accepting_come_in_their_order(
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


async def test_revoking_an_invite_that_is_claimed_in_that_moment_says_so(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        made = await invite(s, ADA)
        was = s.account()
        submit = s.parts.database.writer.submit

        async def claim_first(tx: Any) -> Any:
            s.parts.database.writer.submit = submit  # type: ignore[method-assign]
            after = msgspec.structs.replace(was, revision=was.revision + 1)
            await s.write_past_the_actors(
                accept_invite("acme", made.invite_id, "ada"), rows.update_partner(was, after)
            )
            return await submit(tx)

        s.parts.database.writer.submit = claim_first  # type: ignore[method-assign]
        assert await ask(s, RevokeInvite(PLATFORM, made.invite_id)) == refuse("partner_changed")


async def test_invites_are_listed_from_the_newest_on_in_pages(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        made = [(await invite(s, f"x{number}@acme.example")).invite_id for number in range(5)]
        first = await invites_page(s.reader, "acme", END, 3)
        rest = await invites_page(s.reader, "acme", first[-1][0], 10)
        listed = [one.invite_id for _, one in first + rest]
        assert (listed[:5], len(listed)) == (
            made[::-1],
            6,
        )  # the last one was for the first admin


async def test_two_accounts_that_claim_one_member_at_once_get_them_once(tmp_path: Path) -> None:
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


async def test_one_invite_that_many_claim_at_once_makes_one_member(
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


# --- members ---


async def test_a_role_is_changed_within_what_the_granter_has(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await join(s, "ada")
        await join(s, "dev", "developer")
        await join(s, "vic", "viewer")
        async with Change(s, ("ada", "member.role_changed", {"uid": "vic", "role": "developer"})):
            member = await ask(s, ChangeRole("ada", "vic", "developer"))
        assert (
            member
            == s.account().members["vic"]
            == Member("vic", "vic@acme.example", "developer", at(0))
        )
        async with nothing(s):
            assert await ask(s, ChangeRole("dev", "vic", "admin")) == refuse("role_forbidden")
            assert await ask(s, ChangeRole("ada", "nobody", "viewer")) == refuse("member_not_found")
            assert await ask(s, ChangeRole("ada", "vic", "developer")) == member
            assert await ask(s, ChangeRole("ada", "ada", "viewer")) == refuse("last_admin")
        assert list(s.account().members) == ["ada", "dev", "vic"]


async def test_the_last_admin_cannot_be_removed_and_any_other_member_can(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await join(s, "ada")
        ben = await join(s, "ben")
        async with Change(s, ("ada", "member.removed", {"uid": "ben", "role": "admin"})):
            assert await ask(s, RemoveMember("ada", "ben")) == ben
        assert s.parts.registry.member("ben") is None
        async with nothing(s):
            assert await ask(s, RemoveMember("ada", "ada")) == refuse("last_admin")
            assert await ask(s, RemoveMember("ada", "ben")) == refuse("member_not_found")


async def test_admins_who_remove_each_other_at_once_leave_one(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    rule = rule_of("DELETE", "/partner/admin/members/{uid}")
    async with ready_core(tmp_path) as s:
        await join(s, "ada")
        await join(s, "ben")
        for uid in ("ada", "ben"):
            app = await enrol(s, uid)
            await ask(s, VerifyTotp(uid, app.code()))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask, s, RemoveMember("ada", "ben", rule=rule))
            nursery.start_soon(ask, s, RemoveMember("ben", "ada", rule=rule))
        assert len(s.account().members) == 1
        await check_published(s)


async def test_a_member_who_was_removed_can_join_again_or_elsewhere_without_their_authenticator(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await s.open_partner("other")
        await join(s, "ada")
        await join(s, "ben")
        app = await enrol(s, "ben")
        await ask(s, VerifyTotp("ben", app.code()))
        assert (await find_factor(s.reader, "acme", "ben")).enrolled
        await ask(s, RemoveMember("ada", "ben"))
        assert await find_factor(s.reader, "acme", "ben") == Factor()
        await join(s, "ben", "viewer", partner="other")
        known = s.parts.registry.member("ben")
        assert known is not None
        assert known.account.partner_id == "other"
    async with ready_core(tmp_path, seed=1) as s:
        known = s.parts.registry.member("ben")
        assert known is not None
        assert (known.account.partner_id, known.member.role) == ("other", "viewer")


async def test_a_member_written_past_the_actors_is_seen_within_a_minute(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await join(s, "ada")
        was = s.account()
        await s.write_past_the_actors(
            set_role("acme", "ada", "viewer"),
            rows.update_partner(was, msgspec.structs.replace(was, revision=was.revision + 1)),
        )
        await until(61)
        assert s.account().members["ada"].role == "viewer"
        assert await ask(s, CreateInvite("ada", "x@acme.example", "admin")) == refuse(
            "role_forbidden"
        )


# --- gates and revisions, which the actor checks again ---


async def test_a_stale_revision_changes_nothing(tmp_path: Path, autojump_clock: MockClock) -> None:
    async with ready_core(tmp_path) as s:
        await join(s, "ada")
        seen = s.account().revision
        await ask(s, AddOrigin("ada", "test", "https://one.example"))
        made = await invite(s, "x@acme.example")
        commands: list[Command[Any]] = [
            AddOrigin("ada", "test", "https://two.example", if_revision=seen),
            MintKey("ada", "test", "k", if_revision=seen),
            CreateInvite("ada", "y@acme.example", "viewer", if_revision=seen),
            RevokeInvite("ada", made.invite_id, if_revision=seen),
            ChangeRole("ada", "ada", "admin", if_revision=seen),
            EnrollTotp("ada", if_revision=seen),
            SwitchAccount("ada", False, if_revision=seen),
            EmergencyStop("ada", "test", if_revision=seen),
        ]
        async with nothing(s):
            for command in commands:
                assert await ask(s, command) == refuse("partner_changed")
        assert isinstance(
            await ask(
                s,
                AddOrigin("ada", "test", "https://two.example", if_revision=s.account().revision),
            ),
            Account,
        )


@pytest.mark.parametrize(
    ("role", "refusal"), [("viewer", "role_forbidden"), (None, "not_a_partner_admin")]
)
async def test_a_member_demoted_or_removed_a_moment_ago_changes_nothing(
    role: Role | None, refusal: str, tmp_path: Path, autojump_clock: MockClock
) -> None:
    rule = rule_of("DELETE", "/partner/admin/keys/{key_id}")
    async with ready_core(tmp_path) as s:
        await join(s, "ada")
        await join(s, "ben")
        key_id = (await ask(s, MintKey("ada", "test", "k"))).key.key_id
        app = await enrol(s, "ben")
        await ask(s, VerifyTotp("ben", app.code()))
        await ask(s, RemoveMember("ada", "ben") if role is None else ChangeRole("ada", "ben", role))
        async with nothing(s):
            assert await ask(s, RevokeKey("ben", key_id, rule=rule)) == refuse(refusal)


async def test_a_step_up_that_has_run_out_on_the_way_is_refused(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    fresh, window = (
        rule_of("POST", "/partner/admin/keys"),
        rule_of("POST", "/partner/admin/origins"),
    )
    async with ready_core(tmp_path) as s:
        await join(s, "ada")
        assert await ask(s, MintKey("ada", "test", "k", rule=fresh)) == refuse("totp_not_enrolled")
        await s.write_past_the_actors(
            put_factor("acme", "ada", Factor(sealed_secret="x", opened_at=at(0)))
        )
        await until(119)
        assert isinstance(await ask(s, MintKey("ada", "test", "k", rule=fresh)), KeyMinted)
        await until(120)
        assert await ask(s, MintKey("ada", "test", "k", rule=fresh)) == refuse(
            "fresh_step_up_required"
        )
        await until(899)
        assert isinstance(
            await ask(s, AddOrigin("ada", "test", "https://one.example", rule=window)), Account
        )
        await until(900)
        assert await ask(s, AddOrigin("ada", "test", "https://two.example", rule=window)) == refuse(
            "step_up_required"
        )


async def test_a_member_written_past_the_actor_passes_the_gates_within_a_minute(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        late = Member("late", "late@acme.example", "viewer", at(0))
        await s.write_past_the_actors(*insert_member("acme", late))
        await until(59.9)
        assert s.parts.registry.member("late") is None
        await until(60)
        known = s.parts.registry.member("late")
        assert known is not None
        assert (known.member, known.account) == (late, s.account())
