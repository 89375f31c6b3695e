"""The account actor checks a command's revision, role and step-up again."""

from pathlib import Path
from typing import Any

import pytest
from trio.testing import MockClock

from pgs.actors.kernel.mail import Command
from pgs.actors.messages.account.factors import EnrollTotp, VerifyTotp
from pgs.actors.messages.account.keys import KeyMinted, MintKey, RevokeKey
from pgs.actors.messages.account.lifecycle import EmergencyStop, SwitchAccount
from pgs.actors.messages.account.members import ChangeRole, CreateInvite, RemoveMember, RevokeInvite
from pgs.actors.messages.account.settings import AddOrigin
from pgs.domain.accounts import Account
from pgs.domain.errors import refuse
from pgs.domain.factors import Factor, Window
from pgs.domain.members import Member
from pgs.domain.roles import Role, rule_of
from pgs.storage.factors import put_factor
from pgs.storage.members import insert_member
from tests.actors.account_changes import nothing
from tests.actors.people import ask, enrol, invite, join
from tests.actors.ready_core import at, ready_core, until


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


async def test_a_step_up_that_expired_on_the_way_to_the_actor_is_refused(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    fresh, window = (
        rule_of("POST", "/partner/admin/keys"),
        rule_of("POST", "/partner/admin/origins"),
    )
    async with ready_core(tmp_path) as s:
        await join(s, "ada")
        assert await ask(s, MintKey("ada", "test", "k", rule=fresh)) == refuse("totp_not_enrolled")
        await s.write_without_the_actors(
            put_factor("acme", "ada", Factor(sealed_secret="x", windows=(Window("", at(0)),)))
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


async def test_a_member_written_without_the_actor_is_let_in_within_a_minute(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        late = Member("late", "late@acme.example", "viewer", at(0))
        await s.write_without_the_actors(*insert_member("acme", late))
        await until(59.9)
        assert s.parts.registry.member("late") is None
        await until(60)
        known = s.parts.registry.member("late")
        assert known is not None
        assert (known.member, known.account) == (late, s.account())
