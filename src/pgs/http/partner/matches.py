"""`GET /partner/matches/{match_id}`: a match and its seats."""

from typing import Annotated

import msgspec
from msgspec import UNSET, UnsetType

from pgs.domain.errors import refuse
from pgs.domain.matches import Match, MatchStatus
from pgs.domain.seats import EndReason, Result, Seat
from pgs.http.api.endpoint import Answer, Call, Endpoint
from pgs.http.api.responses import or_unset
from pgs.storage.seats import find_match_with_seats

Pairing = Annotated[
    msgspec.Raw,
    msgspec.Meta(
        extra_json_schema={
            "type": "object",
            "description": "How the two seats were paired. A rule may add further fields.",
            "properties": {
                "rule": {"type": "string"},
                "waitedSeconds": {"type": "number"},
                "begins": {"type": "string", "description": "The player who begins."},
            },
        }
    ),
]
"""How a match was paired, as stored JSON. Its fields depend on the rule of pairing."""


class MatchSeat(msgspec.Struct, frozen=True, rename="camel"):
    """One side of a match. Amounts in US cents. Fields not recorded yet are absent.

    `partner_ref`: the partner's own reference, if the seat was taken with one.
    """

    seat_id: str
    player_id: str
    stake_usd_cents: int
    result: Result | UnsetType = UNSET
    score: int | UnsetType = UNSET
    payout_usd_cents: int | UnsetType = UNSET
    refund_usd_cents: int | UnsetType = UNSET
    rake_usd_cents: int | UnsetType = UNSET
    partner_ref: str | UnsetType = UNSET


class MatchRecord(msgspec.Struct, frozen=True, rename="camel"):
    """A match as it is now. Times in epoch seconds.

    `started_at` is absent if a seat found no opponent, since such a match never started.
    """

    match_id: str
    environment: str
    game_id: str
    tier_id: str
    status: MatchStatus
    prize_usd_cents: int
    seats: list[MatchSeat]
    end_reason: EndReason | UnsetType = UNSET
    started_at: int | UnsetType = UNSET
    ended_at: int | UnsetType = UNSET
    pairing: Pairing | UnsetType = UNSET


def match_record(match: Match, seats: tuple[Seat, ...]) -> MatchRecord:
    """Return the record of a match."""
    return MatchRecord(
        match_id=match.match_id,
        environment=match.environment,
        game_id=match.game_id,
        tier_id=match.tier_id,
        status=match.status,
        prize_usd_cents=match.prize_usd_cents,
        seats=[
            MatchSeat(
                seat.seat_id,
                seat.player_id,
                seat.stake_usd_cents,
                or_unset(seat.result),
                or_unset(seat.score),
                or_unset(seat.payout_usd_cents),
                or_unset(seat.refund_usd_cents),
                or_unset(seat.rake_usd_cents),
                or_unset(seat.partner_ref),
            )
            for seat in seats
        ],
        end_reason=or_unset(match.end_reason),
        started_at=or_unset(match.started_at),
        ended_at=or_unset(match.ended_at),
        pairing=msgspec.Raw(match.pairing.encode()) if match.pairing else UNSET,
    )


async def read_match(call: Call) -> Answer:
    """Return a match of the key's environment."""
    reader, principal = call.services.parts.database.reader, call.principal
    found = await find_match_with_seats(reader, principal.partner_id, call.path["match_id"])
    if found is None or found.match.environment != principal.environment:
        return refuse("match_not_found")
    return match_record(found.match, found.seats)


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/partner/matches/{match_id}",
        handler=read_match,
        response=MatchRecord,
        errors=("match_not_found",),
        summary="Read a match",
    ),
)
