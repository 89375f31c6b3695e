"""How far one member can make an account grow: invites and entries of the event log."""

from pathlib import Path

import pytest
from trio.testing import MockClock

from pgs.actors.kernel.mail import Crashed
from pgs.actors.messages.account.factors import (
    EnrollTotp,
    Enrolment,
    ResetFactor,
    SteppedUp,
    VerifyTotp,
)
from pgs.actors.messages.account.members import AcceptInvite, CreateInvite, RevokeInvite
from pgs.domain import invites
from pgs.domain.errors import BadRequest, refuse
from pgs.domain.invites import INVITE_S, Invite
from pgs.domain.members import PLATFORM
from pgs.storage.columns import NEWEST
from pgs.storage.factors import find_factor
from pgs.storage.invites import count_invites, find_account_of, invites_page
from tests.actors.account_changes import events, nothing
from tests.actors.people import App, ask, invite, join, skip
from tests.actors.raw_rows import select
from tests.actors.ready_core import ReadyCore, at, ready_core
from tests.virtual import Faults

LIMIT = 5


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lower the limit of invites, so that a test reaches it."""
    monkeypatch.setattr(invites, "INVITES_MAX", LIMIT)


async def kept(s: ReadyCore, partner: str = "acme") -> list[str]:
    """Return the addresses of an account's invites, the oldest first."""
    return [
        invite.email.partition("@")[0]
        for _, invite in reversed(await invites_page(s.reader, partner, NEWEST, 1000))
    ]


async def fill(s: ReadyCore, first: int = 1) -> list[Invite]:
    """Issue pending invites up to the limit. The account was opened with one, for `ops`."""
    return [await invite(s, f"p{number}@acme.example", "viewer") for number in range(first, LIMIT)]


# --- invites ---


async def test_an_account_whose_invites_are_all_pending_gets_no_further_one(
    tmp_path: Path, autojump_clock: MockClock, few: None
) -> None:
    async with ready_core(tmp_path) as s:
        await fill(s)
        async with nothing(s):
            refused = await ask(s, CreateInvite(PLATFORM, "x@acme.example", "viewer"))
        assert refused == BadRequest(
            f"an account has at most {LIMIT} pending invites:"
            " revoke some, or wait until they expire"
        )
        assert await count_invites(s.reader, "acme") == LIMIT
        # An invalid invite is refused as invalid first. Another account has its own limit.
        assert await ask(s, CreateInvite(PLATFORM, "nobody", "viewer")) == refuse("invalid_email")
        await s.open_partner("other")
        await invite(s, "x@other.example", "viewer", "other")


async def test_a_new_invite_takes_the_place_of_the_oldest_that_is_not_pending(
    tmp_path: Path, autojump_clock: MockClock, few: None
) -> None:
    async with ready_core(tmp_path) as s:
        first, second, third, _ = await fill(s)
        await ask(s, RevokeInvite(PLATFORM, third.invite_id))
        assert isinstance(
            await ask(s, AcceptInvite("uid-2", second.email, second.invite_id)), Invite
        )
        await invite(s, "new@acme.example", "viewer")
        assert await kept(s) == ["ops", "p1", "p3", "p4", "new"]
        assert await find_account_of(s.reader, second.invite_id) is None
        assert s.account().members.keys() == {"uid-2"}, (
            "the member of a forgotten invite stays a member"
        )
        await invite(s, "newer@acme.example", "viewer")
        assert await kept(s) == ["ops", "p1", "p4", "new", "newer"]
        assert await ask(s, RevokeInvite(PLATFORM, third.invite_id)) == refuse("invite_not_found")
        assert isinstance(
            await ask(s, CreateInvite(PLATFORM, "x@acme.example", "viewer")), BadRequest
        )
        # The event log keeps an entry for each of them.
        assert [action for _, action, *_ in events(s)].count("invite.created") == LIMIT + 1
        assert isinstance(await ask(s, AcceptInvite("uid-1", first.email, first.invite_id)), Invite)


async def test_an_invite_that_nobody_accepted_in_time_makes_room(
    tmp_path: Path, autojump_clock: MockClock, few: None
) -> None:
    async with ready_core(tmp_path) as s:
        await fill(s)
        skip(s, INVITE_S - 1)
        assert isinstance(
            await ask(s, CreateInvite(PLATFORM, "x@acme.example", "viewer")), BadRequest
        )
        skip(s, 1)
        for number in range(2 * LIMIT):
            made = await invite(s, f"q{number % LIMIT}@acme.example", "viewer")
            assert await count_invites(s.reader, "acme") == LIMIT
            if number >= LIMIT - 1:
                await ask(s, RevokeInvite(PLATFORM, made.invite_id))


async def test_issuing_and_revoking_over_and_over_keeps_no_more_rows_than_the_bound(
    tmp_path: Path, autojump_clock: MockClock, few: None
) -> None:
    async with ready_core(tmp_path) as s:
        for number in range(4 * LIMIT):
            made = await invite(s, f"r{number}@acme.example", "viewer")
            await ask(s, RevokeInvite(PLATFORM, made.invite_id))
        assert await kept(s) == [
            "ops",
            *(f"r{number}" for number in range(4 * LIMIT - LIMIT + 1, 4 * LIMIT)),
        ]
        indexed = select(s, "select count(*) from invite_index where partner_id = 'acme'")
        assert indexed == [(LIMIT,)]


# --- the log ---


async def test_enrolling_again_before_the_first_code_adds_nothing_to_the_log(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await join(s, "ada")
        apps = [App(s, (await ask(s, EnrollTotp("ada"))).secret) for _ in range(20)]
        assert [action for actor, action, *_ in events(s) if actor == "ada"][1:] == [
            "totp.enrolled"
        ]
        revision = s.account().revision
        # The last secret counts. After its first code, another enrolment is logged again.
        assert await ask(s, VerifyTotp("ada", apps[0].code())) == refuse("invalid_code")
        assert isinstance(await ask(s, VerifyTotp("ada", apps[-1].code())), SteppedUp)
        for _ in range(3):
            assert isinstance(await ask(s, EnrollTotp("ada")), Enrolment)
        assert [action for actor, action, *_ in events(s) if actor == "ada"][1:] == [
            "totp.enrolled",
            "totp.activated",
            "totp.enrolled",
        ]
        assert s.account().revision == revision


async def test_the_first_enrolment_of_each_member_and_after_each_reset_is_logged(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await join(s, "ada")
        await join(s, "ben")
        for uid in ("ada", "ben", "ada"):
            await ask(s, EnrollTotp(uid))
        await ask(s, ResetFactor(PLATFORM, "ada"))
        await ask(s, EnrollTotp("ada"))
        told = [(actor, action) for actor, action, *_ in events(s) if action.startswith("totp.")]
        assert told == [
            ("ada", "totp.enrolled"),
            ("ben", "totp.enrolled"),
            (PLATFORM, "totp.reset"),
            ("ada", "totp.enrolled"),
        ]


async def test_a_secret_whose_row_was_not_written_is_not_given_out(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults = Faults()
    async with ready_core(tmp_path, faults=faults) as s:
        await join(s, "ada")
        first = App(s, (await ask(s, EnrollTotp("ada"))).secret)
        held = await find_factor(s.reader, "acme", "ada")
        faults.fail("insert into factor")
        with pytest.raises(Crashed):
            await ask(s, EnrollTotp("ada"))
        faults.heal()
        assert await find_factor(s.reader, "acme", "ada") == held
        assert await ask(s, VerifyTotp("ada", first.code())) == SteppedUp(at(15 * 60), at(2 * 60))
