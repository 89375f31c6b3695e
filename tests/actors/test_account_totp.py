"""Authenticators: enrolled, replaced, locked, reset; and many uses of one code at once."""

from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import trio
from trio.testing import MockClock

from pgs.actors.account.factors import factor_context
from pgs.actors.kernel.mail import Crashed, Interrupted
from pgs.actors.messages.account.factors import EnrollTotp, ResetFactor, SteppedUp, VerifyTotp
from pgs.actors.messages.account.settings import AddOrigin
from pgs.domain.errors import refuse
from pgs.domain.factors import (
    FRESH_S,
    LOCK_S,
    MAX_WRONG_CODES,
    WINDOW_S,
    Factor,
    FactorState,
    factor_state,
)
from pgs.domain.members import PLATFORM
from pgs.domain.sealed import open_sealed
from pgs.domain.totp import STEP_S
from pgs.storage.factors import find_factor
from pgs.storage.transactions import Tx, WriterFull
from tests.actors.account_changes import events
from tests.actors.people import App, ask, enrol, join, skip
from tests.actors.ready_core import ReadyCore, at, ready_core, until
from tests.virtual import Faults, seed_scheduler

WRONG, LOCKED, SPENT = refuse("invalid_code"), refuse("step_up_locked"), refuse("invalid_code")


async def verify(s: ReadyCore, code: str, uid: str = "ada") -> Any:
    return await ask(s, VerifyTotp(uid, code))


async def factor(s: ReadyCore, uid: str = "ada") -> Factor:
    return await find_factor(s.reader, "acme", uid)


def actions(s: ReadyCore) -> list[tuple[str, str]]:
    return [(actor, action) for actor, action, _, _ in events(s) if action.startswith("totp.")]


async def ready(s: ReadyCore, uid: str = "ada") -> App:
    """Make a member with an authenticator in force."""
    await join(s, uid)
    app = await enrol(s, uid)
    assert isinstance(await verify(s, app.code(), uid), SteppedUp)
    return app


async def test_the_first_code_puts_an_authenticator_in_force_and_opens_the_window(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await join(s, "ada")
        revision = s.account().revision
        made = await ask(s, EnrollTotp("ada"))
        assert made.otpauth_uri.startswith("otpauth://totp/")
        assert f"secret={made.secret}" in made.otpauth_uri
        assert made.secret not in repr(made)
        held = await factor(s)
        assert (held.enrolled, held.pending_sealed_secret is None) == (False, False)
        assert held.pending_sealed_secret is not None
        assert made.secret not in held.pending_sealed_secret
        assert (
            open_sealed(s.parts.ring, held.pending_sealed_secret, factor_context("acme", "ada"))
            == made.secret.encode()
        )
        assert await verify(s, App(s, made.secret).wrong()) == WRONG
        assert not (await factor(s)).enrolled
        assert await verify(s, App(s, made.secret).code()) == SteppedUp(at(WINDOW_S), at(FRESH_S))
        assert factor_state(await factor(s), "", at(0)) == FactorState(
            True, at(WINDOW_S), at(FRESH_S), None
        )
        assert actions(s) == [("ada", "totp.enrolled"), ("ada", "totp.activated")]
        assert s.account().revision == revision  # nothing that others read has changed
        await ask(s, AddOrigin("ada", "test", "https://one.example", if_revision=revision))
        assert s.account().event_seq == len(events(s))


async def test_an_authenticator_outlives_a_rotation_of_the_key_ring(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        app = await ready(s)
        sealed = (await factor(s)).sealed_secret
        s.parts.keys.rotate()
        skip(s, STEP_S)
        assert isinstance(await verify(s, app.code()), SteppedUp)
    async with ready_core(tmp_path) as s:
        assert len(s.parts.ring.keys) == 2
        assert (await factor(s)).sealed_secret == sealed
        skip(s, 2 * STEP_S)
        assert isinstance(await verify(s, App(s, app.secret).code()), SteppedUp)


async def test_no_secret_of_an_authenticator_is_anywhere_in_the_data_folder(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await join(s, "ada")
        made = await ask(s, EnrollTotp("ada"))
        await verify(s, App(s, made.secret).code())
        again = await ask(s, EnrollTotp("ada"))
    held = b"".join((tmp_path / name).read_bytes() for name in ("pgs.db", "keys"))
    assert b"totp.activated" in held  # proves that the search works
    assert made.secret.encode() not in held
    assert again.secret.encode() not in held


async def test_a_code_is_accepted_once_and_no_older_one_after_it(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        app = await ready(s)
        before = await factor(s)
        for code in (app.code(), app.code(-1)):
            assert await verify(s, code) == SPENT
            assert await factor(s) == before, "a spent code counted"
        skip(s, STEP_S)
        assert isinstance(await verify(s, app.code()), SteppedUp)
        skip(s, 2 * STEP_S)
        assert isinstance(await verify(s, app.code(-1)), SteppedUp)
        assert isinstance(await verify(s, app.code()), SteppedUp)
        assert await verify(s, app.code(1)) == WRONG


async def test_five_wrong_codes_lock_for_fifteen_minutes_also_across_a_restart(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        app = await ready(s)
        skip(s, STEP_S)
        for code in (app.wrong(), "12345", "x", ""):
            assert await verify(s, code) == WRONG
        assert (await factor(s)).wrong_codes == MAX_WRONG_CODES - 1
        now = s.parts.clock.now()
    async with ready_core(tmp_path, seed=1) as s:
        skip(s, now - s.parts.clock.now())
        # The fifth wrong code gets the same answer as those before it.
        assert await verify(s, app.wrong()) == WRONG
        assert await verify(s, App(s, app.secret).code()) == LOCKED
        assert await ask(s, EnrollTotp("ada")) == LOCKED
        assert factor_state(await factor(s), "", now) == FactorState(
            True, at(WINDOW_S), at(FRESH_S), now + LOCK_S
        )  # the window stays open
        assert actions(s)[-1] == ("ada", "totp.locked")
        skip(s, LOCK_S - 1)
        assert await verify(s, App(s, app.secret).code()) == LOCKED
        skip(s, 1)
        assert isinstance(await verify(s, App(s, app.secret).code()), SteppedUp)


async def test_a_right_code_clears_the_count_of_wrong_ones(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        app = await ready(s)
        for _ in range(2):
            skip(s, STEP_S)
            for _ in range(MAX_WRONG_CODES - 1):
                assert await verify(s, app.wrong()) == WRONG
            assert isinstance(await verify(s, app.code()), SteppedUp)
            assert ((await factor(s)).wrong_codes, (await factor(s)).locked_until) == (0, None)


async def test_an_authenticator_is_replaced_after_a_fresh_step_up_and_works_until_then(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        old = await ready(s)
        new = await enrol(s, "ada")
        skip(s, FRESH_S)
        assert await ask(s, EnrollTotp("ada")) == refuse("fresh_step_up_required")
        assert isinstance(await verify(s, old.code()), SteppedUp)
        assert isinstance(await verify(s, new.code()), SteppedUp)
        assert await verify(s, old.code()) == WRONG
        assert (await factor(s)).pending_sealed_secret is None
        assert [action for _, action in actions(s)] == [
            "totp.enrolled",
            "totp.activated",
            "totp.enrolled",
            "totp.verified",
            "totp.activated",
        ]
        skip(s, WINDOW_S)
        assert await ask(s, EnrollTotp("ada")) == refuse("step_up_required")


async def test_the_platform_resets_a_lost_authenticator(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await ready(s)
        assert await ask(s, ResetFactor("ada", "ada")) == refuse("role_forbidden")
        await join(s, "eve")
        assert await ask(s, ResetFactor("eve", "ada")) == s.account().members["ada"]
        assert not (await factor(s)).enrolled
        assert await ask(s, ResetFactor(PLATFORM, "nobody")) == refuse("member_not_found")
        assert await ask(s, ResetFactor(PLATFORM, "ada")) == s.account().members["ada"]
        assert await factor(s) == Factor()
        assert actions(s)[-1] == (PLATFORM, "totp.reset")
        assert await verify(s, "000000") == refuse("totp_not_enrolled")


async def test_a_user_who_is_no_member_has_no_authenticator(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        assert await ask(s, EnrollTotp("ada")) == refuse("not_a_partner_admin")
        assert await verify(s, "000000") == refuse("not_a_partner_admin")
        await join(s, "ada")
        assert await verify(s, "000000") == refuse("totp_not_enrolled")


async def test_the_authenticator_of_one_member_opens_nothing_for_another(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        app = await ready(s, "ada")
        await ready(s, "ben")
        skip(s, STEP_S)
        assert await verify(s, app.code(), "ben") == WRONG
        assert ((await factor(s, "ada")).wrong_codes, (await factor(s, "ben")).wrong_codes) == (
            0,
            1,
        )


@pytest.mark.parametrize("skipped", [0, 1])
async def test_a_guess_is_counted_even_if_the_disk_fails_half_way(
    skipped: int, tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults = Faults()
    async with ready_core(tmp_path, faults=faults) as s:
        app = await ready(s)
        skip(s, STEP_S)
        faults.fail("insert into factor", skip=skipped)
        with pytest.raises(Crashed):
            await verify(s, app.code())
        faults.heal()
        # The first write counts the guess, and the second records its verdict. A guess that was
        # not counted was not checked either.
        assert (await factor(s)).wrong_codes == skipped
        assert isinstance(await verify(s, app.code()), SteppedUp)


async def test_a_writer_that_is_full_once_a_guess_is_counted_leaves_the_outcome_unknown(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        app = await ready(s)
        skip(s, STEP_S)
        writer = s.parts.database.writer
        accepted = [writer.submit]

        async def submit(tx: Tx) -> Any:
            if not accepted:
                raise WriterFull("too many writes wait")
            return await accepted.pop()(tx)

        with mock.patch.object(writer, "submit", submit), pytest.raises(Interrupted):
            await verify(s, app.code())
        assert (await factor(s)).wrong_codes == 1


async def test_guesses_that_come_at_once_are_counted_one_by_one(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        app = await ready(s)
        replies: list[Any] = []

        async def guess() -> None:
            replies.append(await verify(s, app.wrong()))

        async with trio.open_nursery() as nursery:
            for _ in range(20):
                nursery.start_soon(guess)
        assert (replies.count(WRONG), replies.count(LOCKED)) == (
            MAX_WRONG_CODES,
            20 - MAX_WRONG_CODES,
        )


ROUNDS, AT_ONCE = 1000, 20


@pytest.mark.slow
async def test_of_many_uses_of_one_code_at_once_exactly_one_is_accepted(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    await _use_at_once(tmp_path, ROUNDS)


async def test_of_some_uses_of_one_code_at_once_exactly_one_is_accepted(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    await _use_at_once(tmp_path, 20)


async def _use_at_once(folder: Path, rounds: int) -> None:
    async with ready_core(folder) as s:
        app = await ready(s)
        for number in range(rounds):
            skip(s, STEP_S)
            seed_scheduler(number)
            accepted: list[Any] = []

            async def use(code: str, accepted: list[Any] = accepted) -> None:
                accepted.append(await verify(s, code))

            async with trio.open_nursery() as nursery:
                for _ in range(AT_ONCE):
                    nursery.start_soon(use, app.code())
            assert sum(isinstance(reply, SteppedUp) for reply in accepted) == 1, number
            assert accepted.count(SPENT) == AT_ONCE - 1
            assert (await factor(s)).wrong_codes == 0
        await until(trio.current_time())
