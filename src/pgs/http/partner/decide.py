"""`POST /partner/test/matches/{match_id}/decide`: a test key decides a test match."""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, UnsetType

from pgs.actors.messages.seats import DecideMatch
from pgs.domain.errors import BadRequest, Refusal
from pgs.http.api.endpoint import Answer, Call, Endpoint
from pgs.http.partner.matches import MatchRecord, match_record


class Decide(msgspec.Struct, frozen=True, rename="camel"):
    """How the match ends. `ended` requires `winner_player_id`; null means a draw."""

    outcome: Annotated[
        Literal["ended", "no_contest"],
        msgspec.Meta(description="A draw is `ended` with `winnerPlayerId` null."),
    ]
    winner_player_id: str | UnsetType | None = UNSET


async def decide_match(call: Call) -> Answer:
    """Return the decided match. Deciding it again in the same way changes nothing."""
    request: Decide = call.body
    winner: str | None = None
    if request.outcome == "ended":
        if request.winner_player_id is UNSET:
            return BadRequest(
                "Field `winnerPlayerId` is required when the outcome is ended; null means drawn."
            )
        winner = request.winner_player_id
    principal = call.principal
    command = DecideMatch(call.path["match_id"], request.outcome, winner, "decided_by_test_key")
    reply = (
        await call.services.directory.partner(principal.partner_id)
        .seats(principal.environment)
        .ask(command)
    )
    if isinstance(reply, Refusal | BadRequest):
        return reply
    return match_record(reply.match, reply.seats)


ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/partner/test/matches/{match_id}/decide",
        handler=decide_match,
        request=Decide,
        response=MatchRecord,
        only_key="test",
        errors=("test_key_required", "match_not_found", "match_already_decided"),
        summary="Decide a test match",
    ),
)
