"""Live seats of one pool, and what a match records about its pairing."""

import json
from typing import Any

import pytest
import trio

from pgs.actors.messages.seats import Wave
from pgs.domain.environments import Environment
from pgs.domain.ratings import POINT, Rating
from pgs.domain.seats import Seat
from pgs.storage.ratings import save_rating
from tests.actors.ready_core import GAME, ReadyCore

LIVE: Environment = "live"


async def sit(s: ReadyCore, *players: str, **named: Any) -> list[Seat]:
    seats = [await s.seat(player, environment=LIVE, **named) for player in players]
    assert [seat.status for seat in seats] == ["waiting"] * len(seats)
    return seats


async def rate(s: ReadyCore, **points: float) -> None:
    """Write players' ratings, as if earlier matches had made them."""
    stmts = [
        save_rating(
            "acme", LIVE, GAME, player, Rating(0, 1), Rating(round(mean * POINT), 2 * POINT, 1)
        )
        for player, mean in points.items()
    ]
    await s.write_without_the_actors(*stmts)


async def pairing(s: ReadyCore, seat: Seat) -> dict[str, Any]:
    explanation = (await s.match_of(seat)).pairing
    assert explanation is not None
    found: dict[str, Any] = json.loads(explanation)
    return found


def asked(s: ReadyCore, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the times at which the live seats actor of acme is asked for a wave."""
    moments: list[float] = []
    ref = type(s.partner().seats(LIVE))
    ask = ref.ask

    async def noted(self: Any, command: Any, *args: Any) -> Any:
        if isinstance(command, Wave):
            moments.append(trio.current_time())
        return await ask(self, command, *args)

    monkeypatch.setattr(ref, "ask", noted)
    return moments
