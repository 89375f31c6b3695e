"""The ledger adds up at every moment, whatever fault the writer has."""

from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

import apsw
import pytest
import trio
from trio.testing import MockClock

from pgs.actors.kernel.mail import Crashed, Overloaded
from pgs.domain.seats import Seat
from pgs.storage import writer as writer_module
from pgs.storage.ledger import LedgerTotals, check_ledger
from pgs.storage.transactions import StoreOutage, WriterFull
from tests.actors.ready_core import FLOOR, PRIZE, ReadyCore, money, ready_core, until
from tests.beside import open_beside
from tests.virtual import Faults

T = TypeVar("T")

PARTNERS = ("acme", "bravo", "cargo")
# The errors that a caller gets when the writer fails.
FAULTS = (Overloaded, Crashed, StoreOutage, WriterFull)
ASIDE = 40.0  # seconds: longer than a partner is degraded after too many crashes


def _check(folder: Path) -> None:
    """Check from another connection that what was committed agrees with itself."""
    with closing(open_beside(folder / "pgs.db")) as connection:

        def read(sql: str) -> list[Any]:
            return connection.execute(sql).fetchall()

        connection.execute("begin")
        # Every stake lies in escrow from its charge until it leaves in full.
        in_escrow = (
            "select seat_id, sum(case when credit = 'escrow' then amount_usd_cents "
            "else -amount_usd_cents end) as held from ledger group by partner_id, seat_id"
        )
        held = "select sum(held) from (" + in_escrow + ")"  # noqa: S608 - no outside text
        open_stakes = (
            "select sum(stake_usd_cents) from seat "
            "where confirmed_at is not null and rake_usd_cents is null"
        )
        assert (read(held)[0][0] or 0) == (read(open_stakes)[0][0] or 0)
        # The ledger has as many charges as there are confirmed seats, and so have the totals.
        confirmed = read("select count(*) from seat where confirmed_at is not null")[0][0]
        assert read("select count(*) from ledger where kind = 'charge'") == [(confirmed,)]
        assert read("select coalesce(sum(seats), 0) from totals") == [(confirmed,)]
        # Each head names the last row of its ledger.
        last_rows = (
            "select partner_id, environment, seq, hash from ledger l where seq = (select max(seq) "
            "from ledger where partner_id = l.partner_id and environment = l.environment) "
            "order by 1, 2"
        )
        heads = (
            "select partner_id, environment, ledger_seq, ledger_hash from head "
            "where ledger_seq > 0 order by 1, 2"
        )
        assert read(last_rows) == read(heads)


async def _insist(folder: Path, work: Callable[[], Awaitable[T]]) -> T:
    """Repeat `work` until it succeeds, and check the ledger after every fault."""
    for _ in range(50):
        try:
            return await work()
        except FAULTS:
            _check(folder)
        await trio.sleep(ASIDE)
    raise AssertionError("the work failed 50 times")


async def _play(s: ReadyCore, folder: Path, partner: str) -> tuple[Seat, Seat]:
    """Let two players play and the first win; return their seats once the money is recorded."""
    first = await _insist(folder, lambda: s.seat("alice", partner=partner))
    second = await _insist(folder, lambda: s.seat("bob", partner=partner))
    if second.match_id is None:  # its commit took effect although the writer reported a fault
        second = await s.row(second)
    await _insist(folder, lambda: s.decide(second.match_id, "alice", partner=partner))
    with trio.fail_after(1000):
        while (await s.row(first)).rake_usd_cents is None:
            await trio.sleep(1)
            _check(folder)
    return await s.row(first), await s.row(second)


async def _play_all(s: ReadyCore, folder: Path) -> None:
    """Play a match of each partner at once, so that the writer commits groups; check all money."""
    ended: dict[str, tuple[Seat, Seat]] = {}

    async def one(partner: str) -> None:
        ended[partner] = await _play(s, folder, partner)

    async with trio.open_nursery() as nursery:
        for partner in PARTNERS:
            nursery.start_soon(one, partner)
    _check(folder)
    await s.check_money()
    for won, lost in ended.values():
        assert (money(won), money(lost)) == ((PRIZE, 0, 0), (0, 0, 2 * FLOOR - PRIZE))
    # For each match two charges, two stakes that pay the prize, and the rake.
    rake = 2 * FLOOR - PRIZE
    assert (await check_ledger(s.reader)).totals == [
        LedgerTotals(
            "test",
            *(figure * len(PARTNERS) for figure in (5, 2 * FLOOR, PRIZE, 0, rake, 0)),
        )
    ]


async def _open(s: ReadyCore) -> None:
    for partner in PARTNERS[1:]:
        await s.open_partner(partner)


class Once:
    """Makes only the `number`-th of the statements that contain a text fail."""

    def __init__(self, faults: Faults, text: str, number: int, *, after: bool = False) -> None:
        self.struck = False
        self._left = number
        (faults.after if after else faults.before).append((text, self._strike))

    def _strike(self) -> None:
        self._left -= 1
        if self._left == 0:
            self.struck = True
            raise apsw.IOError("disk I/O error")


@pytest.mark.parametrize("number", [1, 2, 3, 4, 7, 9])
@pytest.mark.parametrize(
    "text",
    [
        "begin immediate",
        "insert into seat",
        "update seat",
        "insert into match",
        "update match",
        "insert into ledger",
        "insert into totals",
        "insert into head",
        "update head",
    ],
)
async def test_the_ledger_adds_up_after_a_statement_fails(
    text: str, number: int, tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults = Faults()
    async with ready_core(tmp_path, faults=faults) as s:
        await _open(s)
        before = faults.count("insert into seat")
        once = Once(faults, text, number)
        await _play_all(s, tmp_path)
        assert once.struck or number > 3
        assert faults.count("insert into seat") > before


async def test_the_ledger_adds_up_while_one_partners_statements_fail(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults = Faults()
    async with ready_core(tmp_path, faults=faults) as s:
        await _open(s)
        with closing(open_beside(tmp_path / "pgs.db")) as connection:
            connection.execute(
                "create trigger broken before insert on ledger when new.partner_id = 'bravo' "
                "begin select raise(abort, 'broken'); end"
            )
        commits, outcomes = faults.count("commit"), dict[str, Any]()

        async def seat(partner: str) -> None:
            try:
                outcomes[partner] = (await s.seat("alice", partner=partner)).status
            except FAULTS as error:
                outcomes[partner] = type(error)
            _check(tmp_path)

        for _ in range(2):
            async with trio.open_nursery() as nursery:
                for partner in PARTNERS:
                    nursery.start_soon(seat, partner)
        assert outcomes == {"acme": "waiting", "bravo": Crashed, "cargo": "waiting"}
        assert faults.count("commit") > commits
        await s.check_money()
        with closing(open_beside(tmp_path / "pgs.db")) as connection:
            connection.execute("drop trigger broken")
        await trio.sleep(ASIDE)
        await _play_all(s, tmp_path)


@pytest.mark.parametrize("number", [1, 2, 3, 4])
@pytest.mark.parametrize("landed", [False, True], ids=["lost", "landed"])
async def test_the_ledger_adds_up_after_a_commit_fails(
    landed: bool, number: int, tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults = Faults()
    async with ready_core(tmp_path, faults=faults) as s:
        await _open(s)
        once = Once(faults, "commit", number, after=landed)
        await _play_all(s, tmp_path)
        assert once.struck


async def test_the_ledger_adds_up_when_the_queue_is_full(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ready_core(tmp_path) as s:
        await _open(s)
        with monkeypatch.context() as patch:
            patch.setattr(writer_module, "QUEUE_LIMIT", 1)
            refused: list[Exception] = []

            async def seat(partner: str) -> None:
                try:
                    await s.seat("alice", partner=partner)
                except FAULTS as error:
                    refused.append(error)
                _check(tmp_path)

            async with trio.open_nursery() as nursery:
                for partner in PARTNERS:
                    nursery.start_soon(seat, partner)
            assert len(refused) == len(PARTNERS) - 1
            await s.check_money()
            await _play_all(s, tmp_path)


async def test_the_ledger_adds_up_during_and_after_a_stall_of_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs in real time, because only a writer with its own thread can stall."""
    faults = Faults()
    monkeypatch.setattr(writer_module, "STALLED_AFTER_S", 0.0)
    with trio.fail_after(60):
        async with ready_core(tmp_path, faults=faults, threaded=True) as s:
            await s.seat("alice")
            match_id = (await s.seat("bob")).match_id
            _check(tmp_path)
            for work, told in (
                (lambda: s.seat("carol"), "insert into seat"),
                (lambda: s.decide(match_id, "alice"), "update match"),
            ):
                before = faults.count(told)
                with faults.hold("commit") as let_go:
                    async with trio.open_nursery() as nursery:
                        nursery.start_soon(work)
                        # The writer's thread sets no event of trio's, so the test polls.
                        while (  # noqa: ASYNC110  reads rows
                            faults.count(told) == before or not s.parts.database.writer.stalled()
                        ):
                            await trio.sleep(0.001)
                        _check(tmp_path)
                        let_go.set()
                faults.heal()
                _check(tmp_path)
            # As above: the test polls.
            while (await s.by_key("alice")).rake_usd_cents is None:  # noqa: ASYNC110  reads rows
                await trio.sleep(0.001)
            _check(tmp_path)
            await s.check_money()


async def test_the_ledger_adds_up_after_failed_commits_and_a_restart(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults = Faults()
    async with ready_core(tmp_path, faults=faults) as s:
        await _open(s)
        await s.seat("alice")
        faults.fail("commit")
        for partner in PARTNERS:
            with pytest.raises(FAULTS):
                await s.seat("bob", partner=partner)
            _check(tmp_path)
        faults.heal()
    async with ready_core(tmp_path, seed=1) as s:
        await until(ASIDE)
        await _play_all(s, tmp_path)
