"""Reads what support needs to explain a match from its start to its end."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from pgs.domain import ids
from pgs.domain.environments import Environment
from pgs.domain.matches import Match, MatchStatus, MatchWithSeats
from pgs.domain.seats import Seat
from pgs.storage.attempts import Attempt, attempt_of
from pgs.storage.columns import IDS_AT_ONCE, ids_of
from pgs.storage.reader import Query, Reader, Row
from pgs.storage.seats import find_head
from pgs.storage.transactions import Params

LAST_SECOND = 2**32 - 1
"""Seconds from the epoch to the end of a span for which no end is given: in the year 2106."""

BLOCK = 256
"""Seats in a block. The indexes of players and of references divide the seats of a partner by their
sequence into such blocks. A look-up visits one block after the other in about two microseconds
each, at most 8 ms in all for a partner with a million seats. A look-up that names no player, such
as one by reference, takes up to 1 ms more for each thousand of the partner's seats whose money is
not recorded yet."""

BLOCKS_AT_FIRST = 4
"""Blocks that are read first: enough for a page of the newest matches."""

BLOCKS_AT_ONCE = 4096
"""Blocks that one query reads, at most, so that it sorts few rows."""

SCANNED_FOR_PAGE = 5_000
"""Rows that a call reads at most for a page: matches of each status if it asks for a game or tier,
open seats if it asks for a reference. That takes about 15 ms. There is no index for such
calls, because it would add a write to every match or seat."""

NUDGES_SHOWN = 100
"""Tries at nudges that are shown for one match. A match has three nudges of up to three tries each;
there are more tries only if members have resent nudges."""


class LedgerLine(msgspec.Struct, frozen=True, rename="camel"):
    """A transfer of the ledger. `at` in epoch seconds."""

    seq: int
    at: int
    kind: str
    debit: str
    credit: str
    seat_id: str
    match_id: str | None
    amount_usd_cents: int


async def matches_before(
    reader: Reader, partner_id: str, environment: Environment, before: int, page_size: int
) -> list[tuple[int, str]]:
    """Return (sequence, match id) of the newest matches whose sequence is below `before`.

    The sequence of a match is that of its seat of side 0, or of its only seat. The newest match
    comes first. This list and the two below may read every block of the partner's seats: call them
    through `read_in_bulk`.
    """
    return await _by_blocks(
        reader, "support.matches", partner_id, environment, before, page_size, {}
    )


async def matches_of_player(
    reader: Reader,
    partner_id: str,
    environment: Environment,
    player_id: str,
    before: int,
    page_size: int,
) -> list[tuple[int, str]]:
    """Return (sequence of the player's seat, match id) of a player's newest matches."""
    name, wanted = "support.matches_of_player", {"player_id": player_id}
    return await _by_blocks(reader, name, partner_id, environment, before, page_size, wanted)


async def matches_by_reference(
    reader: Reader,
    partner_id: str,
    environment: Environment,
    partner_ref: str,
    before: int,
    page_size: int,
) -> list[tuple[int, str]]:
    """Return (sequence, match id) of the newest seats with a reference."""
    name, wanted = "support.matches_by_reference", {"partner_ref": partner_ref}
    return await _by_blocks(reader, name, partner_id, environment, before, page_size, wanted)


class Span(msgspec.Struct, frozen=True):
    """Which matches are wanted: their status, time, game and tier. None stands for any.

    The time of a match is its end or, while it runs, the time at which it was made. `since` and
    `until` in epoch seconds; `until` itself is left out.
    """

    status: MatchStatus | None = None
    since: int = 0
    until: int = LAST_SECOND
    game_id: str | None = None
    tier_id: str | None = None


TimedMatch = tuple[int, str]
"""The time of a match (see `Span`) and its id. Lists by time begin with the greatest pair."""


class TimedPage(msgspec.Struct, frozen=True):
    """A page of a list by time. The next page begins after `last`; it is None on the last page."""

    found: list[TimedMatch]
    last: TimedMatch | None


async def matches_by_time(
    reader: Reader,
    partner_id: str,
    environment: Environment,
    span: Span,
    before: TimedMatch | None,
    page_size: int,
) -> TimedPage:
    """Return the newest matches of a span that are older than `before`.

    `before` is None for the first page. A page of one game or tier may have fewer matches than
    `page_size`, although more follow. For such a page up to `SCANNED_FOR_PAGE` matches of each
    status are read: call it through `read_in_bulk`.
    """
    # Read one match more than the page may have: if it is there, more follow.
    scope: Params = {
        "partner_id": partner_id,
        "environment": environment,
        "page_size": page_size + 1,
        "skipped": 0,
        **_bounds(span, before),
    }
    names = [name for status, name in _BY_TIME.items() if span.status in (None, status)]
    end: TimedMatch = (0, "")
    if (span.game_id, span.tier_id) == (None, None):
        answers = await reader.together(*(Query(f"{name}_by_time", scope) for name in names))
    else:
        wanted: Params = {"game_id": span.game_id, "tier_id": span.tier_id}
        scan: Params = {**scope, **wanted, "scanned": SCANNED_FOR_PAGE}
        last: Params = {**scope, "page_size": 2, "skipped": SCANNED_FOR_PAGE - 1}
        answers = await reader.together(
            *(Query(f"{name}_scanned", scan) for name in names),
            *(Query(f"{name}_by_time", last) for name in names),
        )
        # For each status that has more matches than were read: the last one that was read. The list
        # is complete only down to the newest of these.
        ends = [_timed(rows[0]) for rows in answers[len(names) :] if len(rows) == 2]
        end = max([end, *ends])
        answers = answers[: len(names)]
    found = sorted((_timed(row) for rows in answers for row in rows), reverse=True)
    shown = [one for one in found if one >= end][: page_size + 1]
    if len(shown) > page_size:
        return TimedPage(shown[:page_size], shown[page_size - 1])
    return TimedPage(shown, end if end[1] else None)


def _bounds(span: Span, before: TimedMatch | None) -> Params:
    """Return the parameters of the queries by time: their bounds for `ended_at`, and for ids."""
    edge = (span.until, "") if before is None else min(before, (span.until, ""))
    earliest = ids.first_id(ids.MATCH, edge[0])
    return {
        "since": span.since,
        "before_ended_at": edge[0],
        "before_match_id": edge[1],
        "first_id": ids.first_id(ids.MATCH, span.since),
        # `edge` is a time in whole seconds and the id of a match, which may be empty. A running
        # match is older than `edge` if its id is below this bound. There are four cases:
        # - The id was made at the time in `edge`, within that second. The bound is the id.
        # - The id is empty. The bound is the first id of the time in `edge`.
        # - The id was made earlier: the match has ended, and the time in `edge` is that of its end.
        #   The bound is the first id of that time.
        # - The id was made later, because the clock was set back before the match ended. The bound
        #   is the first id of one second after the time in `edge`.
        "before_id": min(max(edge[1], earliest), ids.first_id(ids.MATCH, edge[0] + 1)),
    }


def _timed(row: Row) -> TimedMatch:
    """Return the time and the id that a row holds. Rows of running matches have only the id."""
    return (ids.made_at(row[0]), row[0]) if len(row) == 1 else (row[0], row[1])


_BY_TIME: Final[dict[MatchStatus, str]] = {
    "started": "support.running",
    "ended": "support.ended",
    "no_contest": "support.no_contest",
}
"""The first part of the names of the queries by time."""


def is_in(span: Span, match: Match) -> bool:
    """Return whether a match has the status, the time, the game and the tier of a span."""
    at = ids.made_at(match.match_id) if match.ended_at is None else match.ended_at
    return (
        span.status in (None, match.status)
        and span.since <= at < span.until
        and span.game_id in (None, match.game_id)
        and span.tier_id in (None, match.tier_id)
    )


async def _by_blocks(
    reader: Reader,
    name: str,
    partner_id: str,
    environment: Environment,
    before: int,
    page_size: int,
    wanted: Mapping[str, str],
) -> list[tuple[int, str]]:
    """Return a page of a list that is read block by block, from the newest block on.

    The seats whose money is recorded are read together with the others, as of the same moment, so
    that a seat that is paid meanwhile is found once.
    """
    head = await find_head(reader, partner_id, environment)
    before = min(before, head.seat_seq + 1)
    last, blocks = (before - 1) // BLOCK, BLOCKS_AT_FIRST
    found: list[tuple[int, str]] = []
    while last >= 0 and len(found) < page_size:
        first = max(0, last - blocks + 1)
        params: Params = {
            "partner_id": partner_id,
            "environment": environment,
            "first_block": first,
            "last_block": last,
            "first_seq": first * BLOCK,
            "before": before,
            "page_size": page_size - len(found),
            **wanted,
        }
        recorded, others = await reader.together(
            Query(name, params), Query(f"{name}_unrecorded", params)
        )
        rows = sorted(((seq, match_id) for seq, match_id in (*recorded, *others)), reverse=True)
        found += rows[: page_size - len(found)]
        before, last, blocks = first * BLOCK, first - 1, min(blocks * 2, BLOCKS_AT_ONCE)
    return found


async def matches_with_seats(
    reader: Reader, partner_id: str, match_ids: Sequence[str]
) -> list[MatchWithSeats]:
    """Return the matches with these ids, in this order, each with its seats as of the same moment.

    Ids that no match of the partner has are left out. The seat that moves first comes first.
    """
    found: list[MatchWithSeats] = []
    for start in range(0, len(match_ids), IDS_AT_ONCE):
        some = match_ids[start : start + IDS_AT_ONCE]
        params: Params = {"partner_id": partner_id, **ids_of(some)}
        matches, rows = await reader.together(
            Query("support.matches_by_id", params), Query("support.seats_by_match", params)
        )
        seats: defaultdict[str | None, list[Seat]] = defaultdict(list)
        for row in rows:
            seat = Seat(*row)
            seats[seat.match_id].append(seat)
        by_id = {match.match_id: match for match in (Match(*row) for row in matches)}
        found += [
            MatchWithSeats(by_id[match_id], tuple(sorted(seats[match_id], key=_place)))
            for match_id in some
            if match_id in by_id
        ]
    return found


def _place(seat: Seat) -> tuple[int, int]:
    """Return the place of a seat in its match. A seat that was never paired is alone in it."""
    return (seat.side or 0, seat.seq)


async def ledger_of_match(reader: Reader, partner_id: str, match_id: str) -> list[LedgerLine]:
    """Return the ledger's rows about the seats of a match, in order."""
    rows = await reader.all("support.ledger_of_match", partner_id=partner_id, match_id=match_id)
    return [LedgerLine(*row) for row in rows]


async def nudges_of_match(
    reader: Reader, partner_id: str, environment: Environment, match_id: str
) -> list[Attempt]:
    """Return the tries at the nudges about a match, the oldest first."""
    rows = await reader.all(
        "support.nudges_of_match",
        partner_id=partner_id,
        environment=environment,
        match_id=match_id,
        page_size=NUDGES_SHOWN,
    )
    return [attempt_of(*row) for row in rows]
