"""Members of an account: their roles, who removes whom, and what removal takes away."""

from pathlib import Path

import msgspec
import trio
from trio.testing import MockClock

from pgs.actors.messages.account.factors import VerifyTotp
from pgs.actors.messages.account.members import ChangeRole, CreateInvite, RemoveMember
from pgs.domain.errors import refuse
from pgs.domain.factors import Factor
from pgs.domain.members import Member
from pgs.domain.roles import rule_of
from pgs.storage import accounts as rows
from pgs.storage.factors import find_factor
from pgs.storage.members import set_role
from tests.actors.account_changes import Change, check_published, nothing
from tests.actors.people import ask, enrol, join
from tests.actors.ready_core import at, ready_core, until


async def test_a_member_changes_roles_only_up_to_their_own(
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


async def test_a_member_written_without_the_actors_is_seen_within_a_minute(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await join(s, "ada")
        was = s.account()
        await s.write_without_the_actors(
            set_role("acme", "ada", "viewer"),
            rows.update_partner(was, msgspec.structs.replace(was, revision=was.revision + 1)),
        )
        await until(61)
        assert s.account().members["ada"].role == "viewer"
        assert await ask(s, CreateInvite("ada", "x@acme.example", "admin")) == refuse(
            "role_forbidden"
        )
