"""A service whose clock a test sets, with a partner that plays matches to their money."""

import calendar
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import trio

from tests.journeys.client import Reply, ok
from tests.journeys.partners import BRONZE, Partner, seat_body
from tests.journeys.places import Place
from tests.journeys.service import Service, in_process, until

FEBRUARY_28 = (2028, 2, 28)
"""A day before the last one of a February with 29 days."""


class SetClock:
    """A clock that shows what a test has set, and stands still in between."""

    def __init__(self, *day: int) -> None:
        self.at = 0
        self.set(*day)

    def set(self, year: int, month: int, day: int, hour: int = 12, minute: int = 0) -> None:
        self.at = calendar.timegm((year, month, day, hour, minute, 0))

    def now(self) -> int:
        return self.at

    def now_ms(self) -> int:
        return self.at * 1000

    real, real_ms = now, now_ms


class Billed:
    """A partner whose matches are decided by its test key."""

    def __init__(self, service: Service, partner: Partner, clock: SetClock) -> None:
        self.service = service
        self.partner = partner
        self.clock = clock
        self._numbers = count(1)

    async def read(self, path: str, key: str | None = None) -> Reply:
        """Return the answer to a read with the test key, or with `key`."""
        return await self.service.public.call("GET", path, key or self.partner.test)

    async def read_ok(self, path: str) -> Any:
        """Return the body of the answer to a read with the test key, which must be a 200."""
        return ok(await self.read(path))

    async def write(self, path: str, body: object) -> Any:
        """Return the body of the answer to a write with the test key, which must be a 200."""
        return ok(await self.service.public.call("POST", path, self.partner.test, body))

    async def seat(self, tier_id: str = BRONZE, stake_usd_cents: int = 100) -> Any:
        """Return a new seat of a new player."""
        number = next(self._numbers)
        body = seat_body(f"p{number}", f"k{number}", tierId=tier_id, stakeUsdCents=stake_usd_cents)
        return await self.write("/partner/matches", body)

    async def match(self, outcome: str = "won", **seat: Any) -> str:
        """Play a match until its money is recorded; return its id. The second player never wins."""
        first = await self.seat(**seat)
        match_id: str = (await self.seat(**seat))["matchId"]
        assert match_id is not None
        winner = {"winnerPlayerId": first["playerId"] if outcome == "won" else None}
        decision = (
            {"outcome": "no_contest"} if outcome == "no_contest" else {"outcome": "ended"} | winner
        )
        await self.write(f"/partner/test/matches/{match_id}/decide", decision)
        await until(lambda: self.is_paid(match_id))
        return match_id

    async def rows_and_digest(self) -> tuple[list[Any], Any]:
        """Play on two days; return the feed's rows, and its digest of these days and one before."""
        for outcome in ("won", "drawn", "no_contest"):
            await self.match(outcome)
        self.clock.set(2028, 2, 29)
        await self.match("won")
        self.clock.set(2028, 3, 1)
        rows = (await self.read_ok("/partner/results"))["results"]
        return rows, await self.read_ok("/partner/results/digest?from=20280227&to=20280229")

    async def is_paid(self, match_id: str) -> bool:
        """Return whether the money of a match is recorded."""
        record = await self.read_ok(f"/partner/matches/{match_id}")
        return all("rakeUsdCents" in seat for seat in record["seats"])


@asynccontextmanager
async def open_billed(where: Path | Place, *day: int, **how: Any) -> AsyncIterator[Billed]:
    """Run a service for a block whose clock shows noon of a day."""
    clock = SetClock(*(day or FEBRUARY_28))
    with trio.fail_after(120):
        async with in_process(where, clock=clock, **how) as service:
            yield Billed(service, await service.partner(), clock)
