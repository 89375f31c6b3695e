"""Random play in random interleavings: the invariants hold in whatever order things happen.

A round is one trio run with a virtual clock. The round's seed decides every random choice, so a
seed that fails will fail again.
"""

import os
import threading
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from random import Random
from shutil import rmtree
from tempfile import TemporaryDirectory

import msgspec
import pytest
import trio
from trio.testing import MockClock

from pgs.domain.environments import ENVIRONMENTS, Environment
from pgs.domain.seats import Seat
from pgs.storage import seats as rows
from pgs.storage.transactions import Tx
from tests.actors.history import check_history
from tests.actors.raw_rows import select
from tests.actors.ready_core import ready_core, tend_every
from tests.actors.rounds import CALM_S, Moody, Reader, Round
from tests.virtual import Faults, seed_scheduler

PLAY_S = 60.0
_COLUMNS = ", ".join(Seat.__struct_fields__)
_ALL_SEATS = (
    f"select {_COLUMNS} from seat"  # noqa: S608  the columns are names of the code
    " where partner_id = 'acme' order by seq"
)


async def check_the_invariants(play: Round, readers: list[Reader]) -> None:
    """Check all rows of a round after its end, and what its settlement and its readers saw."""
    everyone = [Seat(*row) for row in select(play.s, _ALL_SEATS)]
    matches = select(play.s, "select match_id, started_at, end_reason, money from match")
    assert {seat.status for seat in everyone} <= {"ended", "no_contest", "declined"}
    assert all(money == "recorded" for *_, money in matches)
    assert await rows.next_due(play.s.reader) is None

    # One seat for each idempotency key, however often it was used.
    keys = [seat.idempotency_key for seat in everyone]
    assert len(set(keys)) == len(keys)
    by_key = {seat.idempotency_key: seat.seat_id for seat in everyone}
    for key, seat_ids in play.seat_of_key.items():
        assert seat_ids == {by_key[key]}

    # No seat is in two matches. A match that started has two players, any other has one.
    in_match: dict[str | None, list[Seat]] = defaultdict(list)
    for seat in everyone:
        in_match[seat.match_id].append(seat)
    for seat in in_match.pop(None, []):
        assert seat.status == "declined"
    assert set(in_match) == {match_id for match_id, *_ in matches}
    for match_id, started_at, end_reason, _ in matches:
        players = {seat.player_id for seat in in_match[match_id]}
        assert len(players) == len(in_match[match_id]) == (1 if started_at is None else 2)
        assert end_reason != "no_opponent" or started_at is None

    # The ledger and the settlement agree about every cent.
    await play.s.check_money()
    charged = {seat.seat_id: seat.stake_usd_cents for seat in everyone if seat.status != "declined"}
    assert play.port.charged == charged
    paid = {}
    for seat in everyone:
        if seat.result in ("won", "drawn") or seat.status == "no_contest":
            kind = "prize" if seat.result == "won" else "refund"
            paid[seat.match_id, seat.seat_id, kind] = (seat.payout_usd_cents or 0) + (
                seat.refund_usd_cents or 0
            )
    assert play.port.paid == paid

    # Readers end with the last revision of every row.
    feed = {seat.seat_id: seat for seat in everyone if seat.position is not None}
    assert set(feed) == set(charged)
    for reader in readers:
        assert reader.latest == feed
        assert reader.after == (await play.s.head(play.environment)).feed_position


async def run_round(
    folder: Path, seed: int, environment: Environment, counts: dict[str, int]
) -> None:
    seed_scheduler(seed)
    chance = Random(seed)
    faults, port = Faults(), Moody(chance)
    with trio.fail_after(PLAY_S * 100 + CALM_S[environment]):
        async with ready_core(folder, port, seed=seed, faults=faults) as s:
            await s.set_tier("gold", 100, 180)
            play = Round(s, port, chance, faults, environment)
            await check_the_invariants(play, await play.play())
    counts["matches"] += check_history(
        [tx for tx in play.history if tx.partner_id == "acme"], environment
    )
    counts["rounds"] += 1
    counts["transactions"] += len(play.history)
    for status, number in _statuses(play.history).items():
        counts[status] += number


def _statuses(history: list[Tx]) -> dict[str, int]:
    last: dict[str, str] = {}
    for stmt in (
        stmt
        for tx in history
        for stmt in tx.stmts
        if stmt.name.startswith(("seats.insert_seat", "seats.update_seat"))
    ):
        last[str(stmt.named["seat_id"])] = str(stmt.named["end_reason"] or stmt.named["status"])
    counts: dict[str, int] = defaultdict(int)
    for status in last.values():
        counts[status] += 1
    return counts


def run_rounds(
    folder: Path, seeds: range, environment: Environment, monkeypatch: pytest.MonkeyPatch
) -> dict[str, int]:
    tend_every(500.0, monkeypatch)
    counts: dict[str, int] = defaultdict(int)
    for seed in seeds:
        try:
            trio.run(
                run_round,
                folder / str(seed),
                seed,
                environment,
                counts,
                clock=MockClock(autojump_threshold=0),
            )
        except BaseException as error:
            error.add_note(f"seed {seed}")
            raise
        rmtree(folder / str(seed))
    return counts


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory if the machine has one, because these tests do not test the disk."""
    memory = Path("/dev/shm")
    with TemporaryDirectory(dir=memory if memory.is_dir() else tmp_path) as name:
        yield Path(name)


TORTURE_PARTS = int(os.environ.get("TORTURE_PARTS", "5"))
"""Parts of the long run. Five are 1,250 rounds in live and 150 in test, and take two minutes of
processor time."""


def check_that_everything_happened(counts: dict[str, int]) -> None:
    for what in (
        "matches",
        "declined",
        "no_opponent",
        "both_absent",
        "account_inactive",
        "decided_by_test_key",
    ):
        assert counts[what] >= counts["rounds"] / 20, (what, dict(counts))


# Fewer rounds in test: its waits of an hour make a round six times as long.
@pytest.mark.exhaustive
@pytest.mark.parametrize(("environment", "rounds"), [("live", 60), ("test", 15)])
def test_the_invariants_hold_in_some_interleavings(
    environment: Environment, rounds: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_that_everything_happened(run_rounds(folder, range(rounds), environment, monkeypatch))


# The rounds are split into parts, so that two processes can share them.
@pytest.mark.torture
@pytest.mark.parametrize("part", range(TORTURE_PARTS))
@pytest.mark.parametrize(("environment", "rounds"), [("live", 250), ("test", 30)])
def test_the_invariants_hold_in_many_interleavings(
    environment: Environment,
    rounds: int,
    part: int,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = 1000 + part * rounds
    check_that_everything_happened(
        run_rounds(folder, range(first, first + rounds), environment, monkeypatch)
    )


@pytest.mark.parametrize("environment", ENVIRONMENTS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_round_runs_the_same_way_every_time(
    seed: int, environment: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tend_every(500.0, monkeypatch)
    histories: list[list[Tx]] = []

    async def traced(folder: Path) -> None:
        seed_scheduler(seed)
        chance = Random(seed)
        faults, port = Faults(), Moody(chance)
        async with ready_core(folder, port, seed=seed, faults=faults) as s:
            await s.set_tier("gold", 100, 180)
            play = Round(s, port, chance, faults, environment)
            histories.append(play.history)
            await check_the_invariants(play, await play.play())

    for name in ("once", "again"):
        trio.run(traced, tmp_path / name, clock=MockClock(autojump_threshold=0))
    assert msgspec.to_builtins(histories[0]) == msgspec.to_builtins(histories[1])
    assert len(histories[0]) > 20


def test_a_seeded_run_is_the_same_beside_a_run_in_another_thread() -> None:
    """The service of the journeys runs in a thread of the same process until all tests have run."""
    stop, busy = threading.Event(), threading.Event()

    async def step(order: list[int], number: int) -> None:
        for _ in range(300):
            await trio.lowlevel.checkpoint()
            order.append(number)

    async def ordered() -> list[int]:
        seed_scheduler(1)
        order: list[int] = []
        async with trio.open_nursery() as nursery:
            for number in range(5):
                nursery.start_soon(step, order, number)
        return order

    async def other() -> None:
        while not stop.is_set():
            async with trio.open_nursery() as nursery:
                for number in range(5):
                    nursery.start_soon(step, [], number)
            busy.set()

    alone = trio.run(ordered)
    thread = threading.Thread(target=trio.run, args=(other,))
    thread.start()
    try:
        assert busy.wait(60)
        beside = [trio.run(ordered) for _ in range(20)]
    finally:
        stop.set()
        thread.join()
    assert beside == [alone] * 20
