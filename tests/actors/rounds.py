"""One round of random play: players, deciders, operators and a settlement act at the same time.

The round's seed decides every random choice, so a seed that fails will fail again.
"""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from random import Random
from typing import Any

import trio

from pgs.actors.kernel.mail import Crashed
from pgs.actors.messages.account.lifecycle import SwitchAccount
from pgs.actors.messages.seats import DecideMatch, Seated, StakeSeat
from pgs.domain.environments import Environment
from pgs.domain.errors import Refusal
from pgs.domain.matches import MatchWithSeats
from pgs.domain.payouts import Payout
from pgs.domain.seats import Seat, SeatRequest
from pgs.storage import seats as rows
from pgs.storage.transactions import Outcome, OutcomeUnknown, Tx
from tests.actors.ready_core import GAME, ReadyCore
from tests.actors.scripted_settlement import Answer, Late, ScriptedSettlement
from tests.feed import feed_page
from tests.virtual import Faults

PLAYERS = ("alice", "bob", "carol", "dave")
TIERS = ("bronze", "gold")
_STAKE_WORDS: Sequence[Answer] = (
    "confirmed",
    "confirmed",
    "confirmed",
    "confirmed",
    "confirmed",
    "confirmed",
    "declined",
)
CALM_S: dict[Environment, float] = {
    "live": 500.0,
    "test": 7500.0,
}  # by then the last seat has expired and the last match has been ended


class Moody(ScriptedSettlement):
    """A settlement that answers at random but never changes a decision."""

    def __init__(self, chance: Random) -> None:
        super().__init__()
        self.calm = False
        self._chance = chance
        self._decided: dict[str, Answer] = {}

    def _mood(self, subject: str, last_words: Sequence[Answer]) -> list[Answer | Late]:
        if subject not in self._decided:
            if not self.calm:
                mood: Answer = self._chance.choices(
                    ("pending", "unpublished", "broken", "hang", "confirmed"), (2, 2, 1, 1, 14)
                )[0]
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

    def __init__(self, s: ReadyCore, chance: Random, environment: Environment) -> None:
        self.latest: dict[str, Seat] = {}
        self.after = 0
        self._s = s
        self._environment: Environment = environment
        self._size = chance.choice((1, 2, 5, 100))
        self._chance = chance

    async def read(self) -> bool:
        page = await feed_page(self._s.reader, "acme", self._environment, self.after, self._size)
        for row in page:
            assert row.position is not None
            assert row.position > self.after
            known = self.latest.get(row.seat_id)
            assert known is None or known.revision < row.revision
            self.latest[row.seat_id], self.after = row, row.position
        return bool(page)

    async def follow(self) -> None:
        while True:
            if not await self.read():
                await self._s.parts.bells.wait("acme", self._environment, trio.current_time() + 25)
            await trio.sleep(self._chance.choice((0, 0, 0.1, 3)))


class Round:
    """One round: the actors of the play, and what they saw."""

    def __init__(
        self, s: ReadyCore, port: Moody, chance: Random, faults: Faults, environment: Environment
    ) -> None:
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

    def _record(self, s: ReadyCore) -> None:
        writer = s.parts.database.writer
        submit = writer.submit

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

        writer.submit = recorded  # type: ignore[method-assign]  # records every write

    async def pause(self, longest: float) -> None:
        kind = self.chance.random()
        if kind < 0.3:
            await trio.lowlevel.checkpoint()
        else:
            await trio.sleep(0 if kind < 0.5 else self.chance.random() * longest)

    async def stake(self, keys: range) -> None:
        for _ in range(12):
            key = f"k{self.chance.choice(keys)}"
            values = self.sent.setdefault(
                key, (self.chance.choice(PLAYERS), self.chance.choice(TIERS))
            )
            different = self.chance.random() < 0.05
            player = "zoe" if different else values[0]
            command = StakeSeat(SeatRequest(player, GAME, values[1], 100, key, None))
            try:
                reply = await self.s.partner().seats(self.environment).ask(command)
            except Crashed:
                continue
            if isinstance(reply, Seated):
                assert (reply.seat.player_id, reply.seat.tier_id) == (player, values[1])
                self.seat_of_key[key].add(reply.seat.seat_id)
            else:
                assert reply.reason in (
                    "settlement_unavailable",
                    "partner_inactive",
                    "idempotency_key_conflict",
                )
            await self.pause(8)

    async def decide(self) -> None:
        for _ in range(20):
            running = await rows.running_matches_after(
                self.s.reader, "acme", self.environment, "", 100
            )
            if running:
                match_id = self.chance.choice(running)
                players = [
                    seat.player_id
                    for seat in await rows.seats_of_match(self.s.reader, "acme", match_id)
                ]
                winner = self.chance.choice([*players, None])
                await self.pause(1)
                command = DecideMatch(match_id, "ended", winner, "decided_by_test_key")
                with suppress(Crashed):
                    reply = await self.s.partner().seats(self.environment).ask(command)
                    assert isinstance(reply, MatchWithSeats) or reply == Refusal(
                        "match_already_decided"
                    )
            await self.pause(6)

    async def insist(self, work: Callable[[], Awaitable[object]]) -> None:
        """Repeat `work` until no broken write interrupts it."""
        while True:
            try:
                await work()
            except Crashed:
                await trio.sleep(1)
            else:
                return

    async def switch(self) -> None:
        async def to(active: bool) -> None:
            await self.insist(lambda: self.s.partner().account().ask(SwitchAccount("ops", active)))

        async def off() -> None:
            # A commit of unknown outcome that succeeded shows in the registry a little later.
            if self.s.account().active:
                raise Crashed("not known yet")

        for _ in range(self.chance.choice((0, 1, 1, 2))):
            await self.pause(40)
            await to(False)
            await self.insist(off)
            await self.insist(lambda: self.s.close_play("account_inactive"))
            assert await rows.waiting_seats(self.s.reader, "acme", self.environment) == []
            assert (
                await rows.running_matches_after(self.s.reader, "acme", self.environment, "", 1)
                == []
            )
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
            text = self.chance.choice(
                (
                    "insert into seat",
                    "update seat",
                    "insert into ledger",
                    "insert into totals",
                    "update match",
                    "commit",
                )
            )
            self.lands = self.chance.random() < 0.5  # whether a commit of unknown outcome succeeds
            self.faults.fail(text, after=self.lands)
            await trio.sleep(self.chance.choice((0.0, 0.01, 2)))
            self.faults.heal()

    async def play(self) -> list[Reader]:
        """Play until everything has ended; return the readers, which have read the whole feed."""
        readers = [Reader(self.s, self.chance, self.environment) for _ in range(2)]
        async with trio.open_nursery() as following:
            for reader in readers:
                following.start_soon(reader.follow)
            async with trio.open_nursery() as nursery:
                for keys in (range(12), range(6, 18), range(18)):
                    nursery.start_soon(self.stake, keys)
                for work in (
                    self.decide,
                    self.decide,
                    self.switch,
                    self.revise,
                    self.break_a_write,
                ):
                    nursery.start_soon(work)
            self.port.calm = True
            await trio.sleep(CALM_S[self.environment])
            following.cancel_scope.cancel()
        for reader in readers:
            while await reader.read():
                pass
        return readers
