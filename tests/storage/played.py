"""Writes seats and matches with their money, as the seats actor does, at any time of the past."""

from typing import Any

import msgspec

from pgs.actors.seating.plan import Plan
from pgs.domain.environments import Environment
from pgs.domain.matches import MatchDecision, MatchWithSeats, close_alone, end
from pgs.domain.payouts import record_money
from pgs.domain.seats import Seat, confirm
from pgs.storage.database import Database
from pgs.storage.seats import find_head
from pgs.storage.transactions import Outcome, Stmt, Tx
from tests.making import pending_seat


class Played:
    """Writes seats and matches of one partner and environment, without actors."""

    def __init__(
        self, database: Database, partner_id: str = "acme", environment: Environment = "test"
    ) -> None:
        self.database = database
        self.reader = database.reader
        self._partner_id = partner_id
        self._environment: Environment = environment

    async def seat(self, at: int, **changes: Any) -> Seat:
        """Add a seat whose stake is confirmed at a time. `changes` replace fields."""
        plan = await self._plan(at)
        number = plan.next_seq()
        changes = {
            "partner_id": self._partner_id,
            "environment": self._environment,
            "seat_id": f"sea_{self._environment}_{number:03}",
            **changes,
        }
        seat = plan.save(None, confirm(pending_seat(number, **changes), at))
        plan.charge(seat)
        await self._commit(plan)
        return seat

    async def start(
        self,
        at: int,
        *,
        stakes: tuple[int, int] = (100, 100),
        prize: int = 180,
        players: tuple[str, str] = ("ann", "bob"),
        **place: Any,
    ) -> MatchWithSeats:
        """Add two seats, confirmed at a time, and start their match."""
        older, newer = [
            await self.seat(
                at, stake_usd_cents=stake, prize_usd_cents=prize, player_id=player, **place
            )
            for stake, player in zip(stakes, players, strict=True)
        ]
        plan = await self._plan(at)
        started = plan.start(older, newer, self._match_of(newer), {"rule": "x"})
        saved = [
            plan.save(was, seat) for was, seat in zip((older, newer), started.seats, strict=True)
        ]
        await self._commit(plan)
        return MatchWithSeats(started.match, tuple(saved))

    async def end(
        self, running: MatchWithSeats, winner: str | None, at: int, *, contest: bool = True
    ) -> MatchWithSeats:
        """End a match, won by a player or by nobody; its money is due."""
        decision = MatchDecision("ended" if contest else "no_contest", winner, "completed")
        plan = await self._plan(at)
        ended = plan.update_all(running, end(running, decision, at))
        await self._commit(plan)
        return ended

    async def pay(self, ended: MatchWithSeats, at: int) -> MatchWithSeats:
        """Record the money of an ended match."""
        plan = await self._plan(at)
        paid = plan.update_all(ended, record_money(ended, at))
        plan.settle(paid)
        await self._commit(plan)
        return paid

    async def match(
        self, winner: str | None, at: int, *, contest: bool = True, **how: Any
    ) -> MatchWithSeats:
        """Play a match to its end, all at one time. `how`: as in `start`."""
        ended = await self.end(await self.start(at, **how), winner, at, contest=contest)
        return await self.pay(ended, at)

    async def alone(self, at: int, **changes: Any) -> MatchWithSeats:
        """Close a seat without an opponent, and refund it."""
        seat = await self.seat(at, **changes)
        plan = await self._plan(at)
        closed = close_alone(seat, self._match_of(seat), "no_opponent", at)
        plan.insert_match(closed.match)
        closed = msgspec.structs.replace(closed, seats=(plan.save(seat, closed.seats[0]),))
        await self._commit(plan)
        return await self.pay(closed, at)

    def _match_of(self, last: Seat) -> str:
        return f"mat_{self._environment}_{last.seq:03}"

    async def _plan(self, now: int) -> Plan:
        head = await find_head(self.reader, self._partner_id, self._environment)
        return Plan(self._partner_id, self._environment, head, now, now * 1000)

    async def _commit(self, plan: Plan) -> None:
        tx = plan.tx()
        assert tx is not None
        assert await self.database.writer.submit(tx) is Outcome.COMMITTED


async def commit(database: Database, *stmts: Stmt) -> Outcome:
    """Submit statements of `acme` as one transaction."""
    return await database.writer.submit(Tx("acme", stmts))
