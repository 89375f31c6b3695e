"""After a crash at any moment, the rows alone suffice to end every seat and to pay every cent."""

import shutil
from copy import deepcopy
from pathlib import Path
from typing import Any

import apsw
import pytest
import trio
from trio.testing import MockClock

from pgs.actors.kernel.mail import Crashed, Overloaded
from pgs.actors.messages import seats as m
from pgs.actors.seating.plan import Plan
from pgs.storage import seats as rows
from pgs.storage.ratings import find_rating
from tests.actors.ready_core import FLOOR, ReadyCore, at, money, ready_core, tend_every, until
from tests.actors.scripted_settlement import Late, ScriptedSettlement
from tests.virtual import Faults


class Crashes(Faults):
    """Faults that also keep a copy of the data folder and of the settlement after each commit."""

    def __init__(self, folder: Path, copies: Path, port: ScriptedSettlement) -> None:
        super().__init__()
        self.copying = False
        self.moments: list[tuple[Path, ScriptedSettlement]] = []
        self._folder = folder
        self._copies = copies
        self._port = port

    @property
    def factory(self) -> type[apsw.Connection]:
        """The class of connections that obey these faults and copy after each commit."""
        crashes, faulty = self, super().factory

        class Connection(faulty):  # type: ignore[misc, valid-type]  # `Faults` makes the base
            def execute(self, statements: str, *args: Any, **how: Any) -> apsw.Cursor:
                cursor: apsw.Cursor = super().execute(statements, *args, **how)
                if crashes.copying and statements == "commit":
                    crashes.copy()
                return cursor

        return Connection

    def copy(self) -> None:
        """Copy the folder and the settlement as they are now."""
        copy = self._copies / f"{len(self.moments):03}"
        copy.mkdir(parents=True)
        for name in ("pgs.db", "pgs.db-wal", "pgs.mark", "keys"):
            shutil.copy(self._folder / name, copy / name)
        self.moments.append((copy, deepcopy(self._port)))


async def play(s: ReadyCore) -> None:
    """Play for 20 seconds so that seats and matches reach many states."""
    await s.seat("expires", environment="live")
    await s.seat("alice")
    bob = await s.seat("bob")
    for player in ("ivan", "judy"):
        await s.seat(player, game="reversi", environment="live")
    for player in ("carol", "dave", "erin"):
        await s.seat(player)
    await s.ask_seat("late")
    await s.ask_seat("refused")
    await s.decide(bob.match_id, "bob")
    await s.decide((await s.by_key("dave")).match_id, None)
    await until(12)
    await s.decide((await s.by_key("ivan", "live")).match_id, "ivan", "live")
    await s.seat("frank", environment="live")
    await s.seat("grace", environment="live")
    await s.switch(False)
    await until(20)


def script() -> ScriptedSettlement:
    return ScriptedSettlement(
        of_charge={
            "late": [Late(11, "confirmed"), "pending", "confirmed"],
            "refused": ["unpublished", "declined"],
        },
        of_payout={
            "bob": ["pending", "confirmed"],
            "carol": ["unpublished", Late(1, "confirmed")],
        },
    )


async def check(s: ReadyCore, port: ScriptedSettlement) -> None:
    """Check that every seat has ended, and that settlement and rows agree about every cent."""
    await s.check_money()
    held = 0
    for environment in ("test", "live"):
        feed = await s.feed(environment)
        assert (
            max((row.position or 0 for row in feed), default=0)
            == (await s.head(environment)).feed_position
        )
        for row in feed:
            assert row.status in ("ended", "no_contest"), row
            assert (await s.match_of(row)).money == "recorded"
            assert port.charged[row.seat_id] == row.stake_usd_cents
            held += 1
            kind = "prize" if row.result == "won" else "refund"
            owed = (row.payout_usd_cents or 0) + (row.refund_usd_cents or 0)
            assert port.paid.get((row.match_id or "", row.seat_id, kind), 0) == owed
    for row in await s.feed("live"):
        rating = await find_rating(s.reader, "acme", "live", row.game_id, row.player_id)
        assert rating.matches == (0 if row.result is None else 1)
    assert await rows.next_due(s.reader) is None
    assert held == len(port.charged)
    assert len(port.paid) == sum(
        1 for row in [*await s.feed("test"), *await s.feed("live")] if row.result != "lost"
    )


@pytest.mark.exhaustive
async def test_a_crash_after_any_commit_loses_nothing(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    tend_every(300.0, monkeypatch)
    port = script()
    crashes = Crashes(tmp_path / "data", tmp_path / "copies", port)
    async with ready_core(tmp_path / "data", port, faults=crashes) as s:
        crashes.copying = True
        await play(s)
    assert len(crashes.moments) > 30
    for number, (folder, port_then) in enumerate(crashes.moments):
        async with ready_core(folder, port_then, seed=number + 1) as s:
            await trio.sleep(4000)
            await check(s, port_then)


@pytest.mark.usefixtures("rare_chores")
async def test_a_settlement_that_outlives_the_crash_is_asked_again_and_moves_no_cent_twice(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port = script()
    async with ready_core(tmp_path, port) as s:
        await s.seat("alice")
        bob = await s.seat("bob")
        await s.ask_seat("late")
        await s.decide(bob.match_id, "bob")
    for seed in (1, 2):
        async with ready_core(tmp_path, port, seed=seed) as s:
            await trio.sleep(4000)
    async with ready_core(tmp_path, port, seed=3) as s:
        await check(s, port)
        assert len(port.charged) == 3
        assert sum(port.charged.values()) == 3 * FLOOR


@pytest.mark.parametrize(
    "text",
    [
        "insert into seat",
        "insert into match",
        "update seat set",
        "insert into ledger",
        "insert into totals",
        "update head",
    ],
)
@pytest.mark.parametrize("after", [False, True])
async def test_a_write_that_fails_half_way_is_undone_and_the_next_try_finds_everything_whole(
    text: str, after: bool, tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults = Faults()
    async with ready_core(tmp_path, faults=faults) as s:
        alice = await s.seat("alice")
        faults.fail(text, after=after)
        with pytest.raises(Crashed):
            await s.seat("bob")
        assert (await s.head()).seat_seq == 1
        assert await s.row(alice) == alice
        faults.heal()
        bob = await s.seat("bob")
        assert (bob.seq, bob.status, bob.match_id) == (2, "matched", (await s.row(alice)).match_id)
        assert [row.position for row in await s.feed()] == [1, 2]
        await s.check_money()


@pytest.mark.parametrize("after", [False, True], ids=["not on disk", "on disk"])
async def test_a_commit_of_unknown_outcome_is_read_from_rows(
    after: bool, tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults = Faults()
    async with ready_core(tmp_path, faults=faults) as s:
        alice = await s.seat("alice")
        faults.fail("commit", after=after)
        with pytest.raises(Crashed):
            await s.seat("bob")
        faults.heal()
        reply = await s.ask_seat("bob")
        assert isinstance(reply, m.Seated)
        assert (reply.replayed, reply.seat.status, reply.seat.match_id) == (
            after,
            "matched",
            (await s.row(alice)).match_id,
        )
        assert (await s.seat("carol")).status == "waiting"
        assert (await s.head()).seat_seq == 3
        await s.check_money()


async def test_an_answer_that_cannot_be_written_down_is_asked_for_again(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port = ScriptedSettlement(of_charge={"alice": [Late(1, "confirmed")]})
    faults = Faults()
    async with ready_core(tmp_path, port, faults=faults) as s:
        replies: list[object] = []

        async def call() -> None:
            try:
                replies.append(await s.ask_seat("alice"))
            except (Crashed, Overloaded) as error:
                replies.append(error)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(call)
            await until(0.5)
            faults.fail("update seat")
            await until(2)
            faults.heal()
        assert isinstance(replies[0], Crashed)
        assert (await s.by_key("alice")).status == "pending"
        await until(12)
        assert (await s.by_key("alice")).status == "waiting"
        await s.check_money()


async def test_money_whose_record_cannot_be_written_is_paid_again_and_recorded_once(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    port = ScriptedSettlement()
    faults = Faults()
    async with ready_core(tmp_path, port, faults=faults) as s:
        await s.seat("alice")
        bob = await s.seat("bob")
        await s.decide(bob.match_id, "bob")
        faults.fail("insert into ledger")
        await until(1)
        assert (await s.match_of(bob)).money == "due"
        faults.heal()
        await until(12)
        assert (await s.match_of(bob)).money == "recorded"
        assert money(await s.row(bob)) == (180, 0, 0)
        assert len(port.paid) == 1
        await s.check_money()


async def test_deadlines_that_passed_while_the_process_was_down_are_met_at_the_start(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        waiting = await s.seat("alice", environment="live")
        playing = [await s.seat(player, "p-" + player) for player in ("bob", "carol")]
    await trio.sleep(10_000)
    async with ready_core(tmp_path, seed=1) as s:
        await until(10_001)
        assert ((await s.row(waiting)).end_reason, (await s.row(waiting)).ended_at) == (
            "no_opponent",
            at(10_000),
        )
        assert {(await s.row(seat)).end_reason for seat in playing} == {"both_absent"}
        assert {(await s.row(seat)).stake_status for seat in (waiting, *playing)} == {"refunded"}
        await s.check_money()


async def test_deadlines_are_met_late_after_rows_could_not_be_read(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults = Faults()
    events: list[str] = []
    async with ready_core(tmp_path, faults=faults, on_event=events.append) as s:
        seat = await s.seat("alice", environment="live")
        await until(290)
        faults.fail("where due_at <=")
        await until(310)
        assert "deadlines_unreadable" in events
        assert (await s.row(seat)).status == "waiting"
        faults.heal()
        await until(312)
        assert (await s.row(seat)).end_reason == "no_opponent"


async def test_a_seat_written_without_the_actor_is_seen_before_the_next_decision(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    """A foreign row takes the next sequence: the actor's write conflicts, and it decides again."""
    async with ready_core(tmp_path) as s:
        alice = await s.seat("alice")
        async with ready_core(tmp_path / "twin", seed=5) as twin:
            await twin.seat("zoe", "z1")
            await twin.seat("zoe", "z2")
            foreign = await twin.by_key("z2")
        head = await s.head()
        plan = Plan("acme", "test", head, at(0), at(0) * 1000)
        plan.next_seq()
        plan.charge(foreign)
        plan.save(None, foreign)
        tx = plan.tx()
        assert tx is not None
        await s.write_without_the_actors(*tx.stmts)
        bob = await s.seat("bob")
        assert (bob.seq, bob.match_id) == (3, (await s.row(alice)).match_id)
        assert (await s.seat("carol")).match_id == (await s.by_key("z2")).match_id
        await s.check_money()
