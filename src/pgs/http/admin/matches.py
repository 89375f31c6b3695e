"""For a partner's support staff: a search for matches, and all that is known of one match."""

from typing import Any, Final, get_args

import msgspec
from msgspec import UNSET, UnsetType

from pgs.actors.play.position import states_after
from pgs.domain.days import start_of
from pgs.domain.environments import Environment
from pgs.domain.errors import BadRequest, Refusal, refuse
from pgs.domain.matches import MatchStatus, MatchWithSeats
from pgs.domain.play import Move
from pgs.http.admin.authorization import AdminCall
from pgs.http.admin.endpoints import LIST_QUERY, admin_read
from pgs.http.admin.paths import environment_asked
from pgs.http.admin.seats import seat_named
from pgs.http.admin.webhooks import AttemptRecord, attempt_record
from pgs.http.api.day_ranges import RANGE_ERRORS, RANGE_QUERY, parse_optional_range
from pgs.http.api.endpoint import Answer
from pgs.http.api.lists import Page, Wanted, cut, page_to, wanted_limit, wanted_page
from pgs.http.partner.matches import MatchRecord, match_record
from pgs.http.partner.seats import SeatRecord, seat_record
from pgs.storage import support
from pgs.storage.bulk import read_in_bulk
from pgs.storage.moves import moves_of_match
from pgs.storage.reader import Reader
from pgs.storage.seats import find_match_with_seats
from pgs.storage.support import LedgerLine, Span, TimedMatch, TimedPage

_KIND: Final = "admin.matches"
_BY_TIME: Final = "admin.matches.by_time"


class FoundMatches(msgspec.Struct, frozen=True, rename="camel"):
    """A page of the matches, the newest first."""

    matches: list[MatchRecord]
    next_cursor: str | None
    has_more: bool


class MoveRecord(msgspec.Struct, frozen=True, rename="camel"):
    """A move. `at_ms` in epoch milliseconds; `left_ms`: milliseconds left to each side after it."""

    ply: int
    side: int
    move: str
    at_ms: int
    left_ms: tuple[int, int]


class MatchLife(msgspec.Struct, frozen=True, rename="camel"):
    """All that is known of a match.

    `states`, if asked for: the states of the game before the first move and after each move, as
    players see them. It is absent if the game is not installed any more.
    """

    match: MatchRecord
    seats: list[SeatRecord]
    ledger: list[LedgerLine]
    moves: list[MoveRecord]
    nudges: list[AttemptRecord]
    states: list[Any] | UnsetType = UNSET


async def list_matches(call: AdminCall) -> Answer:
    """Return a page of the matches that the query asks for."""
    environment = environment_asked(call)
    if isinstance(environment, Refusal | BadRequest):
        return environment
    limit = wanted_limit(call)
    if not isinstance(limit, int):
        return limit
    span = _span_asked(call)
    if not isinstance(span, Span):
        return span
    by_seat = not _OF_A_SEAT.keys().isdisjoint(call.query)
    if by_seat or span == Span():
        kind, page_of = _KIND, _page_by_seat
    else:
        kind, page_of = _BY_TIME, _page_by_time
    wanted = wanted_page(call, kind, environment)
    if not isinstance(wanted, Wanted):
        return wanted
    match_ids, page = await page_of(call, environment, wanted, span)
    reader, partner_id = call.services.parts.database.reader, call.principal.account.partner_id
    records = [
        match_record(one.match, one.seats)
        for one in await support.matches_with_seats(reader, partner_id, match_ids)
        if _fits(call, one, span)
    ]
    return FoundMatches(records, page.next_cursor, page.has_more)


def _span_asked(call: AdminCall) -> Span | Refusal | BadRequest:
    """Return the status, time, game and tier that the query asks for, or what is wrong with it."""
    text = call.query.get("status")
    status = None if text is None else _STATUSES.get(text)
    if text is not None and status is None:
        return BadRequest(f"Query parameter `status` must be one of {', '.join(_STATUSES)}.")
    days = parse_optional_range(call.query)
    if isinstance(days, Refusal):
        return days
    since, until = 0, support.LAST_SECOND
    if days is not None:
        since, until = start_of(days[0]), min(start_of(days[1] + 1), until)
    return Span(
        status, max(0, since), max(0, until), call.query.get("gameId"), call.query.get("tierId")
    )


async def _page_by_time(
    call: AdminCall, environment: Environment, wanted: Wanted, span: Span
) -> tuple[list[str], Page]:
    """Return the ids of a page of the matches that fit `span`, the newest first."""
    before: TimedMatch | None = None
    if isinstance(wanted.after, str):
        at, _, match_id = wanted.after.partition(".")
        before = (int(at), match_id)
    owner = (call.principal.account.partner_id, environment)

    async def read(reader: Reader) -> TimedPage:
        return await support.matches_by_time(reader, *owner, span, before, wanted.limit)

    page = await read_in_bulk(call.services.parts.database, read)
    last = None if page.last is None else "{}.{}".format(*page.last)
    return [match_id for _, match_id in page.found], page_to(call, _BY_TIME, last, environment)


async def _page_by_seat(
    call: AdminCall, environment: Environment, wanted: Wanted, span: Span
) -> tuple[list[str], Page]:
    """Return the ids of a page of matches found by their seats, from the newest seat on."""
    found = await _find(call, environment, wanted.before, wanted.limit + 1)
    shown, page = cut(call, _KIND, wanted, found, lambda one: one[0], environment)
    return list(dict.fromkeys(match_id for _, match_id in shown)), page


async def _find(
    call: AdminCall, environment: Environment, before: int, page_size: int
) -> list[tuple[int, str]]:
    """Return the sequence number and the match id of each seat that the narrowest filter finds."""
    database, query = call.services.parts.database, call.query
    owner = (call.principal.account.partner_id, environment)
    if "seatId" in query or "idempotencyKey" in query:
        seat = await seat_named(call, environment)
        return [(seat.seq, seat.match_id)] if seat and seat.match_id and seat.seq < before else []
    page = (before, page_size)

    async def read(reader: Reader) -> list[tuple[int, str]]:
        if "playerId" in query:
            return await support.matches_of_player(reader, *owner, query["playerId"], *page)
        if "partnerRef" in query:
            return await support.matches_by_reference(reader, *owner, query["partnerRef"], *page)
        return await support.matches_before(reader, *owner, *page)

    return await read_in_bulk(database, read)


def _fits(call: AdminCall, found: MatchWithSeats, span: Span) -> bool:
    """Return whether a match fits `span`, and one of its seats fits every filter for seats."""
    asked = {name: value for name, value in call.query.items() if name in _OF_A_SEAT}
    return support.is_in(span, found.match) and (
        not asked
        or any(
            all(getattr(seat, _OF_A_SEAT[name]) == value for name, value in asked.items())
            for seat in found.seats
        )
    )


async def read_match(call: AdminCall) -> Answer:
    """Return all that is known of a match."""
    environment = environment_asked(call)
    if isinstance(environment, Refusal | BadRequest):
        return environment
    with_states = call.query.get("states", "false")
    if with_states not in ("true", "false"):
        return BadRequest("Query parameter `states` must be true or false.")
    reader, partner_id = call.services.parts.database.reader, call.principal.account.partner_id
    match_id = call.path["match_id"]
    found = await find_match_with_seats(reader, partner_id, match_id)
    if found is None or found.match.environment != environment:
        return refuse("match_not_found")
    ledger = await support.ledger_of_match(reader, partner_id, match_id)
    moves = await moves_of_match(reader, partner_id, match_id)
    nudges = await support.nudges_of_match(reader, partner_id, environment, match_id)
    rules = call.services.parts.games.get(found.match.game_id) if with_states == "true" else None
    return MatchLife(
        match=match_record(found.match, found.seats),
        seats=[seat_record(seat) for seat in found.seats],
        ledger=ledger,
        moves=[_move_record(move) for move in moves],
        nudges=[attempt_record(attempt) for attempt in nudges],
        states=UNSET if rules is None else states_after(rules, moves),
    )


def _move_record(move: Move) -> MoveRecord:
    return MoveRecord(move.ply, move.side, move.move, move.at_ms, move.left_ms)


_OF_A_SEAT = {
    "playerId": "player_id",
    "partnerRef": "partner_ref",
    "seatId": "seat_id",
    "idempotencyKey": "idempotency_key",
}

_STATUSES: Final[dict[str, MatchStatus]] = {status: status for status in get_args(MatchStatus)}

ENDPOINTS = (
    admin_read(
        "matches",
        list_matches,
        FoundMatches,
        "The matches of an environment, by player, reference, seat, status, day, game or tier",
        query=LIST_QUERY | RANGE_QUERY | {"environment", "status", "gameId", "tierId", *_OF_A_SEAT},
        errors=(*RANGE_ERRORS, "invalid_cursor"),
    ),
    admin_read(
        "matches/{match_id}",
        read_match,
        MatchLife,
        "All that is known of a match",
        query=frozenset({"environment", "states"}),
        errors=("missing_parameter", "match_not_found"),
    ),
)
