"""The calls of the load on the actors of this process, without HTTP."""

from typing import Any, TypeVar

import msgspec
from load.story import PAGE, Ending, LoadFailed

from pgs.actors.core import Core
from pgs.actors.kernel.mail import Command, Crashed, Overloaded
from pgs.actors.messages.seats import DecideMatch, Seated, StakeSeat
from pgs.domain.matches import MatchWithSeats
from pgs.domain.seats import SeatRequest
from pgs.http.partner.results import result_row
from pgs.storage.seats import feed_page

R = TypeVar("R")


class ActorDriver:
    """Asks the seats actors of a core. Sessions are minted without actors, so `mint` is empty."""

    def __init__(self, core: Core, game_id: str, tier_id: str, stake: int) -> None:
        self._core, self._game_id, self._tier_id, self._stake = core, game_id, tier_id, stake

    async def mint(self, partner_id: str, player_id: str) -> None:
        """Do nothing: no actor has a part in a session."""

    async def seat(self, partner_id: str, player_id: str, idempotency_key: str) -> dict[str, Any]:
        request = SeatRequest(
            player_id, self._game_id, self._tier_id, self._stake, idempotency_key, None
        )
        answer = await self._ask(partner_id, StakeSeat(request))
        if not isinstance(answer, Seated):
            raise LoadFailed(f"a seat of {player_id}: {answer}")
        return {"seatId": answer.seat.seat_id, "matchId": answer.seat.match_id}

    async def decide(self, partner_id: str, match_id: str, ending: Ending) -> None:
        command = DecideMatch(match_id, ending.outcome, ending.winner, "decided_by_test_key")
        answer = await self._ask(partner_id, command)
        if not isinstance(answer, MatchWithSeats):
            raise LoadFailed(f"a decision of {match_id}: {answer}")

    async def feed(self, partner_id: str, cursor: str | int) -> tuple[list[dict[str, Any]], int]:
        """Return the rows after a position; the cursor is that of the last row."""
        reader, after = self._core.parts.database.reader, int(cursor or 0)
        page = await feed_page(reader, partner_id, "test", after, PAGE)
        rows = [msgspec.to_builtins(result_row(row)) for row in page]
        return rows, page[-1][-1] if page else after

    async def _ask(self, partner_id: str, command: Command[R]) -> R:
        """Return the answer of a partner's seats actor. Raises `LoadFailed`."""
        try:
            return await self._core.directory.partner(partner_id).seats("test").ask(command)
        except (Overloaded, Crashed) as error:
            raise LoadFailed(f"{type(command).__name__}: {error!r}") from error
