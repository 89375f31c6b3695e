"""Live pairing goes on after restarts, broken waves and failed reads, and with large waves."""

from pathlib import Path
from typing import Any

import pytest
from trio.testing import MockClock

from pgs.actors.kernel.mail import Crashed
from pgs.actors.messages.account.lifecycle import SwitchAccount
from pgs.actors.messages.seats import CloseSeats, DecideMatch
from pgs.actors.seating import lobby
from pgs.storage import seats as rows
from tests.actors.live_pool import LIVE, asked, pairing, rate, sit
from tests.actors.ready_core import ready_core, until
from tests.virtual import Faults


async def test_seats_that_wait_at_a_restart_are_paired_without_a_call(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        alice, bob = await sit(s, "alice", "bob")
    async with ready_core(tmp_path, seed=1) as s:
        assert (await s.row(alice)).status == "waiting"
        await until(1.5)
        assert (await s.row(bob)).match_id == (await s.row(alice)).match_id is not None


async def test_a_start_that_cannot_read_the_waiting_seats_reads_them_again(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        alice, _ = await sit(s, "alice", "bob")
    faults, events = Faults(), list[str]()
    faults.fail("having count(*) >= 2")
    async with ready_core(tmp_path, seed=1, faults=faults, on_event=events.append) as s:
        await until(30)
        assert "lobbies_unreadable" in events
        assert (await s.row(alice)).status == "waiting"
        faults.heal()
        await until(62)
        assert (await s.row(alice)).status == "matched"


@pytest.mark.parametrize("after", [False, True], ids=["not on disk", "on disk"])
@pytest.mark.parametrize("text", ["insert into match", "update seat set", "commit"])
async def test_a_wave_that_breaks_is_followed_by_another(
    text: str, after: bool, tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults = Faults()
    async with ready_core(tmp_path, faults=faults) as s:
        alice, bob = await sit(s, "alice", "bob")
        faults.fail(text, after=after)
        await until(1.5)
        faults.heal()
        await until(3.5)
        assert (await s.row(alice)).match_id == (await s.row(bob)).match_id is not None
        assert [row.position for row in await s.feed(LIVE)] == [1, 2]
        assert [row.revision for row in await s.feed(LIVE)] == [1, 1]
        await s.check_money()


async def test_an_actor_that_broke_runs_one_wave_a_second_again(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ready_core(tmp_path) as s:
        await rate(s, alice=5)
        moments = asked(s, monkeypatch)
        await sit(s, "alice", "bob")
        await until(2.5)
        monkeypatch.setattr(rows, "find_match", lambda *_: 1 / 0)
        with pytest.raises(Crashed):
            await s.partner().seats(LIVE).ask(DecideMatch("mat_x", "ended", None, "completed"))
        monkeypatch.undo()
        moments = asked(s, monkeypatch)
        await until(10.2)
        assert 8 <= len(moments) <= 10  # the pulse from before the crash asks once more
        del moments[:]
        await until(20.2)
        assert len(moments) == 10


async def test_a_wave_is_put_off_while_rows_cannot_be_read(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults = Faults()
    async with ready_core(tmp_path, faults=faults) as s:
        alice, bob = await sit(s, "alice", "bob")
        faults.fail("from rating")
        await until(5)
        assert (await s.row(alice)).status == "waiting"
        faults.heal()
        await until(7)
        assert (await s.row(alice)).match_id == (await s.row(bob)).match_id is not None


async def test_a_large_wave_is_committed_page_by_page(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lobby, "PAGE", 3)
    async with ready_core(tmp_path) as s:
        seats = await sit(s, *(f"p{number:02}" for number in range(20)))
        sizes: list[int] = []
        submit = s.parts.database.writer.submit

        async def counted(tx: Any) -> Any:
            sizes.append(sum(stmt.name == "matches.insert_match" for stmt in tx.stmts))
            return await submit(tx)

        monkeypatch.setattr(s.parts.database.writer, "submit", counted)
        await until(1)
        assert [size for size in sizes if size] == [3, 3, 3, 1]
        assert {(await s.row(seat)).status for seat in seats} == {"matched"}
        assert [row.position for row in await s.feed(LIVE)] == list(range(1, 21))
        assert {(await pairing(s, seat))["waves"] for seat in seats} == {1}


async def test_a_pair_whose_seat_was_closed_before_its_page_is_dropped(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lobby, "PAGE", 1)
    async with ready_core(tmp_path) as s:
        seats = await sit(s, "alice", "bob", "carol", "dave")
        submit = s.parts.database.writer.submit
        closing: list[Any] = []

        async def closed_meanwhile(tx: Any) -> Any:
            if not closing and any(stmt.name == "matches.insert_match" for stmt in tx.stmts):
                closing.append(1)
                s.partner().seats(LIVE).tell(CloseSeats((seats[3].seat_id,), "account_inactive"))
            return await submit(tx)

        monkeypatch.setattr(s.parts.database.writer, "submit", closed_meanwhile)
        await until(5)
        assert [(await s.row(seat)).status for seat in seats] == [
            "matched",
            "matched",
            "waiting",
            "no_contest",
        ]
        await s.check_money()


async def test_an_account_that_is_off_has_no_waves(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        alice, bob = await sit(s, "alice", "bob")
        await s.partner().account().ask(SwitchAccount("ops", False))
        await until(5)
        assert (await s.row(alice)).match_id is None or (
            await s.row(alice)
        ).end_reason == "account_inactive"
        assert (await s.row(bob)).started_at is None
