"""Takes a paid seat (`POST /partner/matches`), reads a seat, and cancels a waiting one."""

from typing import Annotated, Any, Final

import msgspec
import trio
from msgspec import UNSET, UnsetType

from pgs.actors.messages.seats import CancelSeat, Seated, StakeSeat
from pgs.actors.waiting_seats import why_held_back
from pgs.domain.errors import BadRequest, Refusal, refuse
from pgs.domain.live_pairing import HeldBack
from pgs.domain.names import IDEMPOTENCY_KEY, PARTNER_REF_MAX, fault_of_text, is_idempotency_key
from pgs.domain.seats import Seat, SeatRequest, SeatStatus, StakeStatus, is_same_request
from pgs.http.api.body import Cents, PlayerId
from pgs.http.api.endpoint import Answer, Call, Endpoint, Reply
from pgs.http.partner.matches import Pairing
from pgs.storage.seats import find_by_idempotency_key, find_match, find_seat

REPLAYED = ((b"idempotent-replayed", b"true"),)

STAKE_REFUSED: Final = ("stake_below_floor", "stake_above_prize", "stake_does_not_match_price")
"""Refusals of a seat that would be accepted with another stake."""

IdempotencyKey = Annotated[
    str, msgspec.Meta(extra_json_schema={"pattern": f"^{IDEMPOTENCY_KEY}$", "maxLength": 128})
]
"""An idempotency key in a request. The schema states the rule; `take_seat` checks it."""


class TakeSeat(msgspec.Struct, frozen=True, rename="camel"):
    """A purchase of a seat for a player, at a game and tier.

    `stake_usd_cents` is the price that the partner expects.
    """

    player_id: PlayerId
    game_id: str
    tier_id: str
    stake_usd_cents: Cents
    idempotency_key: IdempotencyKey
    partner_ref: Annotated[str, msgspec.Meta(max_length=PARTNER_REF_MAX)] | UnsetType = UNSET


class SeatRecord(msgspec.Struct, frozen=True, rename="camel"):
    """A seat as it is now. Times in epoch seconds."""

    seat_id: str
    match_id: str | None
    status: SeatStatus
    stake_status: StakeStatus
    environment: str
    game_id: str
    tier_id: str
    player_id: str
    stake_usd_cents: int
    prize_usd_cents: int
    seated_at: int
    idempotency_key: str
    expires_at: int | UnsetType = UNSET
    partner_ref: str | UnsetType = UNSET
    held_back: HeldBack | UnsetType = UNSET
    pairing: Pairing | UnsetType = UNSET


def seat_record(
    seat: Seat, pairing: str | None = None, *, held_back: HeldBack | None = None
) -> SeatRecord:
    """Return the record of a seat. `pairing` is the pairing of its match, as JSON."""
    return SeatRecord(  # the required fields by position, which takes half the time
        seat.seat_id,
        seat.match_id,
        seat.status,
        seat.stake_status,
        seat.environment,
        seat.game_id,
        seat.tier_id,
        seat.player_id,
        seat.stake_usd_cents,
        seat.prize_usd_cents,
        seat.seated_at,
        seat.idempotency_key,
        expires_at=UNSET if seat.expires_at is None else seat.expires_at,
        partner_ref=UNSET if seat.partner_ref is None else seat.partner_ref,
        held_back=held_back or UNSET,
        pairing=msgspec.Raw(pairing.encode()) if pairing else UNSET,
    )


async def take_seat(call: Call) -> Answer:
    """Return the seat that this call, or an earlier one with its idempotency key, has taken."""
    request: TakeSeat = call.body
    fault = fault_of_text(request.partner_ref) if request.partner_ref else None
    if fault is not None:
        return BadRequest(f"Field `partnerRef` {fault}.")
    if not is_idempotency_key(request.idempotency_key):
        return BadRequest(
            "Field `idempotencyKey` must be 1 to 128 characters of A-Z a-z 0-9 _ - . :"
        )
    command = StakeSeat(_asked(request), call.request_id)
    principal = call.principal
    environment = principal.environment
    partner = call.services.directory.partner(principal.partner_id)
    reply = await partner.seats(environment).ask(command)
    if not isinstance(reply, Seated):
        return _with_correction(call, reply)
    held_back = None
    if environment == "live":
        held_back = await why_held_back(call.services.parts, reply.seat)
    shown: SeatRecord | Refusal = seat_record(reply.seat, held_back=held_back)
    if reply.seat.status == "declined":
        fields: dict[str, Any] = msgspec.to_builtins(shown)
        shown = refuse("stake_declined", **fields)
    return Reply(shown, REPLAYED) if reply.replayed else shown


def _with_correction(call: Call, refusal: Refusal) -> Refusal:
    """Return a refusal of the stake together with the game, the tier and what a seat costs there.

    The refusal itself may state only the floor or the prize of the tier, not the price.
    """
    request: TakeSeat = call.body
    catalogue = call.services.parts.catalogue.published(trio.current_time())
    environment = call.principal.environment
    tier = catalogue.find(environment, request.tier_id) if catalogue else None
    if refusal.reason not in STAKE_REFUSED or tier is None:
        return refusal
    entry = tier.entry_usd_cents(call.principal.account.prices[environment].get(tier.tier_id))
    corrected = {"gameId": request.game_id, "tierId": tier.tier_id, "stakeUsdCents": entry}
    return msgspec.structs.replace(refusal, corrected=corrected)


def _asked(request: TakeSeat) -> SeatRequest:
    return SeatRequest(
        request.player_id,
        request.game_id,
        request.tier_id,
        request.stake_usd_cents,
        request.idempotency_key,
        None if isinstance(request.partner_ref, UnsetType) else request.partner_ref,
    )


async def repeats_a_seat(call: Call) -> bool:
    """Return whether the call repeats an earlier call that took a seat."""
    reader, principal = call.services.parts.database.reader, call.principal
    request = _asked(call.body)
    seat = await find_by_idempotency_key(
        reader, principal.partner_id, principal.environment, request.idempotency_key
    )
    return seat is not None and is_same_request(seat, request)


async def read_seat(call: Call) -> Answer:
    """Return a seat of the key's environment, with its pairing."""
    reader, principal = call.services.parts.database.reader, call.principal
    seat = await find_seat(reader, principal.partner_id, call.path["seat_id"])
    if seat is None or seat.environment != principal.environment:
        return refuse("seat_not_found")
    match = await find_match(reader, principal.partner_id, seat.match_id) if seat.match_id else None
    held_back = await why_held_back(call.services.parts, seat)
    return seat_record(seat, match.pairing if match else None, held_back=held_back)


async def cancel_seat(call: Call) -> Answer:
    """Cancel a waiting seat; return it once that is on disk. Its stake will be refunded."""
    principal = call.principal
    seats = call.services.directory.partner(principal.partner_id).seats(principal.environment)
    reply = await seats.ask(CancelSeat(call.path["seat_id"]))
    return reply if isinstance(reply, Refusal) else seat_record(reply)


ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/partner/matches",
        handler=take_seat,
        request=TakeSeat,
        response=SeatRecord,
        launch=True,
        is_replay=repeats_a_seat,
        outage="settlement_unavailable",
        spellings={"yourStakeUsdCents": "stakeUsdCents", "tier": "tierId"},
        errors=(
            "game_not_licensed",
            "game_not_licensed_in_this_environment",
            "malformed_player_id",
            "idempotency_key_conflict",
            "unknown_tier",
            "tier_locked",
            "rake_terms_not_agreed",
            "stake_below_floor",
            "stake_above_prize",
            "stake_does_not_match_price",
            "stake_declined",
            "settlement_unavailable",
        ),
        crash="settlement_unavailable",
        summary="Take a paid seat",
    ),
    Endpoint(
        method="GET",
        path="/partner/seats/{seat_id}",
        handler=read_seat,
        response=SeatRecord,
        errors=("seat_not_found",),
        summary="Read a seat",
    ),
    Endpoint(
        method="POST",
        path="/partner/seats/{seat_id}/cancel",
        handler=cancel_seat,
        response=SeatRecord,
        errors=("seat_not_found", "seat_not_waiting"),
        summary="Take a waiting seat back",
    ),
)
