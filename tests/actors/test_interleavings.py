"""Random play in random interleavings: whatever order things happen in, what must hold holds.

A round is one trio run with a virtual clock, in which everything that chooses is fed by the round's seed: a failing seed fails again.
"""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import pytest
import trio
from trio.testing import MockClock

from pgs.actors import kernel
from pgs.actors import messages as m
from pgs.actors.kernel import Crashed
from pgs.domain.environments import ENVIRONMENTS, Environment
from pgs.domain.errors import Refusal
from pgs.domain.seats import Payout, Seat
from pgs.storage import seats as rows
from pgs.storage.database import Outcome, OutcomeUnknown, Stmt, Tx
from tests.actors.history import check_history
from tests.actors.stage import GAME, Answer, Late, Money, Stage, stage
from tests.virtual import Faults, seed_scheduler

PLAYERS = ("alice", "bob", "carol", "dave")
TIERS = ("bronze", "gold")
_STAKE_WORDS: Sequence[Answer] = ("confirmed", "confirmed", "confirmed", "confirmed", "confirmed", "confirmed", "declined")
PLAY_S = 60.0
CALM_S: dict[Environment, float] = {"live": 500.0, "test": 7500.0}  # until the last seat has expired and the last match is given up


class Moody(Money):
    """A settlement of many moods that nevertheless never takes a decision back."""

    def __init__(self, chance: Random) -> None:
        super().__init__()
        self.calm = False
        self._chance = chance
        self._decided: dict[str, Answer] = {}

    def _mood(self, subject: str, last_words: Sequence[Answer]) -> list[Answer | Late]:
        if subject not in self._decided:
            if not self.calm:
                mood: Answer = self._chance.choices(("pending", "unpublished", "broken", "hang", "confirmed"), (2, 2, 1, 1, 14))[0]
                if mood != "confirmed":
                    return [mood]
            self._decided[subject] = self._chance.choice(last_words)
        late = 0.0 if self.calm else self._chance.choice((0.0, 0.0, 0.0, 1.0, 9.99, 10.01))
        return [Late(late, self._decided[subject])] if late else [self._decided[subject]]

    async def charge(self, seat: Seat) -> Any:
        self.of_charge[seat.idempotency_key] = self._mood(seat.seat_id, _STAKE_WORDS)
        return await super().charge(seat)

    async def pay(self, match_id: str, payout: Payout) -> Any:
        self.of_payout[payout.player_id] = self._mood(f"{match_id} {payout.seat_id}", ["confirmed"])
        return await super().pay(match_id, payout)


class Reader:
    """Follows a feed's cursors with pages of one size."""

    def __init__(self, s: Stage, chance: Random, environment: Environment) -> None:
        self.latest: dict[str, Seat] = {}
        self.after = 0
        self._s = s
        self._environment: Environment = environment
        self._size = chance.choice((1, 2, 5, 100))
        self._chance = chance

    def read(self) -> bool:
        page = rows.feed_page(self._s.reader, "acme", self._environment, self.after, self._size)
        for row in page:
            assert row.position is not None
            assert row.position > self.after
            known = self.latest.get(row.seat_id)
            assert known is None or known.revision < row.revision
            self.latest[row.seat_id], self.after = row, row.position
        return bool(page)

    async def follow(self) -> None:
        while True:
            if not self.read():
                await self._s.parts.bells.wait("acme", self._environment, trio.current_time() + 25)
            await trio.sleep(self._chance.choice((0, 0, 0.1, 3)))


class Round:
    """One round: who acts, and what they saw."""

    def __init__(self, s: Stage, port: Moody, chance: Random, faults: Faults, environment: Environment) -> None:
        self.s = s
        self.environment: Environment = environment
        self.port = port
        self.chance = chance
        self.faults = faults
        self.history: list[Tx] = []
        self.lands = False
        self.seat_of_key: dict[str, set[str]] = defaultdict(set)
        self.sent: dict[str, tuple[str, str]] = {}
        self._record(s)

    def _record(self, s: Stage) -> None:
        submit = s.parts.database.writer.submit

        async def recorded(tx: Tx) -> Outcome:
            try:
                outcome = await submit(tx)
            except OutcomeUnknown:
                if self.lands:
                    self.history.append(tx)
                raise
            if outcome is Outcome.COMMITTED:
                self.history.append(tx)
            return outcome

        s.parts.database.writer.submit = recorded  # type: ignore[method-assign]

    async def pause(self, longest: float) -> None:
        kind = self.chance.random()
        if kind < 0.3:
            await trio.lowlevel.checkpoint()
        else:
            await trio.sleep(0 if kind < 0.5 else self.chance.random() * longest)

    async def stake(self, keys: range) -> None:
        for _ in range(12):
            key = f"k{self.chance.choice(keys)}"
            values = self.sent.setdefault(key, (self.chance.choice(PLAYERS), self.chance.choice(TIERS)))
            different = self.chance.random() < 0.05
            player = "zoe" if different else values[0]
            command = m.StakeSeat(player, GAME, values[1], 100, key, None)
            try:
                reply = await self.s.house().seats(self.environment).ask(command)
            except Crashed:
                continue
            if isinstance(reply, m.Seated):
                assert (reply.seat.player_id, reply.seat.tier_id) == (player, values[1])
                self.seat_of_key[key].add(reply.seat.seat_id)
            else:
                assert reply.reason in ("settlement_unavailable", "partner_inactive", "idempotency_key_conflict")
            await self.pause(8)

    async def decide(self) -> None:
        for _ in range(20):
            running = rows.running_matches_after(self.s.reader, "acme", self.environment, "", 100)
            if running:
                match_id = self.chance.choice(running)
                players = [seat.player_id for seat in rows.seats_of_match(self.s.reader, "acme", match_id)]
                winner = self.chance.choice([*players, None])
                await self.pause(1)
                command = m.DecideMatch(match_id, "ended", winner, "decided_by_test_key")
                with suppress(Crashed):
                    reply = await self.s.house().seats(self.environment).ask(command)
                    assert isinstance(reply, m.MatchRecord) or reply == Refusal("match_already_decided")
            await self.pause(6)

    async def insist(self, work: Callable[[], Awaitable[object]]) -> None:
        """Do something again until no broken write comes between."""
        while True:
            try:
                await work()
            except Crashed:
                await trio.sleep(1)
            else:
                return

    async def switch(self) -> None:
        async def to(active: bool) -> None:
            await self.insist(lambda: self.s.house().account().ask(m.SwitchAccount("ops", active)))

        async def off() -> None:
            if self.s.account().active:  # a commit of unknown outcome that landed: the registry's next reading sees it
                raise Crashed("not known yet")

        for _ in range(self.chance.choice((0, 1, 1, 2))):
            await self.pause(40)
            await to(False)
            await self.insist(off)
            await self.insist(lambda: self.s.core.close_play("acme", "account_inactive"))
            assert rows.waiting_seats(self.s.reader, "acme", self.environment) == []
            assert rows.running_matches_after(self.s.reader, "acme", self.environment, "", 1) == []
            await self.pause(10)
            await to(True)

    async def revise(self) -> None:
        for _ in range(self.chance.choice((0, 0, 1))):
            await self.pause(40)
            tier, prize = self.chance.choice(TIERS), self.chance.choice((110, 150, 200))
            await self.insist(partial(self.s.set_tier, tier, 100, prize))

    async def break_a_write(self) -> None:
        for _ in range(self.chance.choice((0, 0, 1))):
            await self.pause(40)
            text = self.chance.choice(("insert into seat", "update seat", "insert into ledger", "update match", "commit"))
            self.lands = self.chance.random() < 0.5  # a commit of unknown outcome has then happened
            self.faults.fail(text, after=self.lands)
            await trio.sleep(self.chance.choice((0.0, 0.01, 2)))
            self.faults.heal()

    async def play(self) -> None:
        readers = [Reader(self.s, self.chance, self.environment) for _ in range(2)]
        async with trio.open_nursery() as following:
            for reader in readers:
                following.start_soon(reader.follow)
            async with trio.open_nursery() as nursery:
                for keys in (range(12), range(6, 18), range(18)):
                    nursery.start_soon(self.stake, keys)
                for work in (self.decide, self.decide, self.switch, self.revise, self.break_a_write):
                    nursery.start_soon(work)
            self.port.calm = True
            await trio.sleep(CALM_S[self.environment])
            following.cancel_scope.cancel()
        for reader in readers:
            while reader.read():
                pass
        self.check(readers)

    # --- what must hold -------------------------------------------------------------------------------------------------------

    def check(self, readers: list[Reader]) -> None:
        everyone = [Seat(*row) for row in self.s.reader._connection.execute(_ALL_SEATS)]
        matches = self.s.reader._connection.execute("select match_id, started_at, end_reason, money from match").fetchall()
        assert {seat.status for seat in everyone} <= {"ended", "no_contest", "declined"}
        assert all(money == "recorded" for *_, money in matches)
        assert rows.next_due(self.s.reader) is None

        # One seat for each key, whoever asked and how often.
        keys = [seat.idempotency_key for seat in everyone]
        assert len(set(keys)) == len(keys)
        by_key = {seat.idempotency_key: seat.seat_id for seat in everyone}
        for key, seat_ids in self.seat_of_key.items():
            assert seat_ids == {by_key[key]}

        # No seat in two matches; two players in every match that started, one in every other.
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

        # Every cent, in the ledger and at the settlement.
        self.s.check_money()
        charged = {seat.seat_id: seat.stake_usd_cents for seat in everyone if seat.status != "declined"}
        assert self.port.charged == charged
        paid = {}
        for seat in everyone:
            if seat.result in ("won", "drawn") or seat.status == "no_contest":
                kind = "prize" if seat.result == "won" else "refund"
                paid[seat.match_id, seat.seat_id, kind] = (seat.payout_usd_cents or 0) + (seat.refund_usd_cents or 0)
        assert self.port.paid == paid

        # Readers end with the last revision of every row.
        feed = {seat.seat_id: seat for seat in everyone if seat.position is not None}
        assert set(feed) == set(charged)
        for reader in readers:
            assert reader.latest == feed
            assert reader.after == self.s.head(self.environment).feed_position


_ALL_SEATS = f"select {', '.join(Seat.__struct_fields__)} from seat where partner_id = 'acme' order by seq"  # noqa: S608


async def run_round(folder: Path, seed: int, environment: Environment, counts: dict[str, int]) -> None:
    seed_scheduler(seed)
    chance = Random(seed)
    faults, port = Faults(), Moody(chance)
    with trio.fail_after(PLAY_S * 100 + CALM_S[environment]):
        async with stage(folder, port, seed=seed, faults=faults) as s:
            await s.set_tier("gold", 100, 180)
            play = Round(s, port, chance, faults, environment)
            await play.play()
    counts["matches"] += check_history([tx for tx in play.history if tx.partner_id == "acme"], environment)
    counts["rounds"] += 1
    counts["transactions"] += len(play.history)
    for status, number in _statuses(play.history).items():
        counts[status] += number


def _statuses(history: list[Tx]) -> dict[str, int]:
    last: dict[str, str] = {}
    for stmt in (stmt for tx in history for stmt in tx.stmts if stmt.name in ("seats.insert_seat", "seats.update_seat")):
        last[str(stmt.params["seat_id"])] = str(stmt.params["end_reason"] or stmt.params["status"])
    counts: dict[str, int] = defaultdict(int)
    for status in last.values():
        counts[status] += 1
    return counts


def run_rounds(folder: Path, seeds: range, environment: Environment, monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    monkeypatch.setattr(kernel, "JANITOR_S", 500.0)  # it would be most of what the virtual clock wakes
    counts: dict[str, int] = defaultdict(int)
    for seed in seeds:
        try:
            trio.run(run_round, folder / str(seed), seed, environment, counts, clock=MockClock(autojump_threshold=0))
        except BaseException as error:
            error.add_note(f"seed {seed}")
            raise
        rmtree(folder / str(seed))
    return counts


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory, where this machine has one: what a disk makes of a commit is not what is asked here."""
    memory = Path("/dev/shm")
    with TemporaryDirectory(dir=memory if memory.is_dir() else tmp_path) as name:
        yield Path(name)


def check_that_everything_happened(counts: dict[str, int]) -> None:
    for what in ("matches", "declined", "no_opponent", "both_absent", "account_inactive", "decided_by_test_key"):
        assert counts[what] >= counts["rounds"] / 20, (what, dict(counts))


# Fewer rounds of test, whose waits of an hour make a round six times as long.
@pytest.mark.parametrize(("environment", "rounds"), [("live", 60), ("test", 15)])
def test_what_must_hold_holds_in_some_hundred_interleavings(
    environment: Environment, rounds: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_that_everything_happened(run_rounds(folder, range(rounds), environment, monkeypatch))


@pytest.mark.torture
@pytest.mark.parametrize(("environment", "rounds"), [("live", 2500), ("test", 300)])
def test_what_must_hold_holds_in_thousands_of_interleavings(
    environment: Environment, rounds: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_that_everything_happened(run_rounds(folder, range(1000, 1000 + rounds), environment, monkeypatch))


@pytest.mark.parametrize("environment", ENVIRONMENTS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_round_runs_the_same_way_every_time(seed: int, environment: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "JANITOR_S", 500.0)
    histories: list[list[Tx]] = []

    async def traced(folder: Path) -> None:
        seed_scheduler(seed)
        chance = Random(seed)
        faults, port = Faults(), Moody(chance)
        async with stage(folder, port, seed=seed, faults=faults) as s:
            await s.set_tier("gold", 100, 180)
            play = Round(s, port, chance, faults, environment)
            histories.append(play.history)
            await play.play()

    for name in ("once", "again"):
        trio.run(traced, tmp_path / name, clock=MockClock(autojump_threshold=0))
    assert msgspec.to_builtins(histories[0]) == msgspec.to_builtins(histories[1])
    assert len(histories[0]) > 20


def test_the_checks_of_a_history_notice_what_is_wrong() -> None:
    """The replay above must be able to fail."""

    def stmt(seat_id: str, player: str, status: str, seq: int, **more: Any) -> Stmt:
        params: dict[str, Any] = {
            "seat_id": seat_id,
            "player_id": player,
            "status": status,
            "seq": seq,
            "revision": 0,
            "position": None,
            "match_id": None,
            "game_id": GAME,
            "tier_id": "bronze",
            "tier_revision": 1,
            "due_at": 100 + seq,
            "updated_at": 50,
        }
        return Stmt("seats.update_seat", params | more)

    def matched(seat_id: str, player: str, seq: int, position: int, **more: Any) -> Stmt:
        return stmt(seat_id, player, "matched", seq, position=position, **({"match_id": "mat", "revision": 1} | more))

    def tx(*stmts: Stmt) -> Tx:
        return Tx("acme", stmts)

    waiting = [tx(stmt("a", "alice", "waiting", 1)), tx(stmt("b", "alice", "waiting", 2))]
    right = tx(matched("a", "alice", 1, 1), matched("c", "carol", 3, 2))
    assert check_history([*waiting, right], "test") == 1
    wrong = [
        tx(matched("b", "alice", 2, 1), matched("c", "carol", 3, 2)),
        tx(matched("a", "alice", 1, 1), matched("c", "carol", 3, 3)),
        tx(matched("a", "alice", 1, 1), matched("c", "alice", 3, 2)),
        tx(matched("a", "alice", 1, 1, updated_at=101), matched("c", "carol", 3, 2, updated_at=101)),
        tx(stmt("c", "carol", "waiting", 3)),
    ]
    for one in wrong:
        with pytest.raises((AssertionError, IndexError)):
            check_history([*waiting, one], "test")

    waiting.append(tx(stmt("c", "carol", "waiting", 3)))
    waiting.append(tx(stmt("d", "dave", "waiting", 4, tier_id="gold")))
    ended = Stmt("matches.update_match", {"was_status": "started", "status": "ended"})
    first, second = (Stmt("ratings.save_rating", {"game_id": GAME, "player_id": p, "was_matches": 0, "matches": 1}) for p in ("a", "c"))
    for good in (tx(matched("b", "alice", 2, 1), matched("c", "carol", 3, 2)), right):
        assert check_history([*waiting, good, tx(ended, first, second)], "live") == 1
    wrong = [
        tx(matched("a", "alice", 1, 1), matched("b", "alice", 2, 2)),
        tx(matched("a", "alice", 1, 1), matched("d", "dave", 4, 2, tier_id="gold")),
        tx(matched("a", "alice", 1, 1), matched("e", "erin", 5, 2)),
        tx(matched("a", "alice", 1, 1, updated_at=101), matched("c", "carol", 3, 2, updated_at=101)),
        tx(matched("a", "alice", 1, 1)),
        tx(ended),
        tx(first, second),
        tx(ended, first, first),
    ]
    for one in wrong:
        with pytest.raises((AssertionError, KeyError, ValueError)):
            check_history([*waiting, one], "live")
