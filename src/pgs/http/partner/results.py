"""`GET /partner/results`: the results feed.

When a row of the feed changes, it moves to the end. A reader that follows the cursors therefore
sees every changed row.
"""

import re
from typing import Annotated, get_args

import msgspec
import structlog
import trio
from msgspec import UNSET, UnsetType

from pgs.actors.kernel.mail import Crashed, Degraded, NotOwned, Overloaded
from pgs.actors.messages.account.event_log import NoteRewound
from pgs.actors.parts import Parts
from pgs.actors.shared.feed_rows import Feed, FeedRows
from pgs.domain.cursors import make_cursor, read_cursor
from pgs.domain.errors import BadRequest, Refusal, refuse
from pgs.domain.matches import MatchStatus
from pgs.domain.members import PLATFORM
from pgs.domain.seats import EndReason, Result
from pgs.http.api.auth import recheck
from pgs.http.api.endpoint import Answer, Call, Endpoint
from pgs.http.api.lists import wanted_limit
from pgs.http.api.query import int_param
from pgs.storage.bulk import read_in_bulk
from pgs.storage.reader import Row
from pgs.storage.seats import feed_page, feed_positions, find_head, position_since

CURSOR_KIND = "results"

log = structlog.get_logger("pgs.http")


WAIT_MAX_S = 25
"""Seconds that a call for the feed can be held, as the interface promises. Common proxies close a
silent connection after 30."""

SINCE_AHEAD_MAX_S = 86_400
"""Seconds that `since` can be ahead of the service's clock. A later time is most likely written in
milliseconds. The answer to it would begin at the end of the feed, and the reader would miss every
row before that."""

_SECONDS = re.compile(r"[0-9]{1,15}", re.ASCII)
_TOO_LATE = (
    "Query parameter `since` is more than a day ahead. This looks like milliseconds: send the time "
    "in epoch seconds."
)


class ResultRow(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """The outcome of a match for one player.

    Amounts in US cents; payout, refund and rake are absent until the match's money is recorded.
    Times in epoch seconds.
    """

    match_id: str
    player_id: str
    seat_id: str
    idempotency_key: str
    game_id: str
    tier_id: str
    outcome: Annotated[str, msgspec.Meta(extra_json_schema={"enum": get_args(MatchStatus)})]
    stake_usd_cents: int
    updated_at: int
    revision: int
    opponent_player_id: str | UnsetType = UNSET
    partner_ref: str | UnsetType = UNSET
    result: Result | UnsetType = UNSET
    end_reason: EndReason | UnsetType = UNSET
    score: int | UnsetType = UNSET
    payout_usd_cents: int | UnsetType = UNSET
    refund_usd_cents: int | UnsetType = UNSET
    rake_usd_cents: int | UnsetType = UNSET
    started_at: int | UnsetType = UNSET
    ended_at: int | UnsetType = UNSET


class ResultsPage(msgspec.Struct, frozen=True, rename="camel"):
    """A page of the feed. `next_cursor` leads to the next page, even if that has no rows yet."""

    environment: str
    results: list[ResultRow]
    next_cursor: str
    has_more: bool


def result_row(row: Row) -> ResultRow:
    """Return the record of a row of `feed_page`.

    The row has the values of the record's fields, in their order, and then its own position. The
    values have names here because loops over them take four times as long: 1.3 instead of 0.3 µs.
    """
    (
        match_id,
        player_id,
        seat_id,
        idempotency_key,
        game_id,
        tier_id,
        outcome,
        stake_usd_cents,
        updated_at,
        revision,
        opponent_player_id,
        partner_ref,
        result,
        end_reason,
        score,
        payout_usd_cents,
        refund_usd_cents,
        rake_usd_cents,
        started_at,
        ended_at,
        _,
    ) = row
    return ResultRow(
        match_id,
        player_id,
        seat_id,
        idempotency_key,
        game_id,
        tier_id,
        outcome,
        stake_usd_cents,
        updated_at,
        revision,
        UNSET if opponent_player_id is None else opponent_player_id,
        UNSET if partner_ref is None else partner_ref,
        UNSET if result is None else result,
        UNSET if end_reason is None else end_reason,
        UNSET if score is None else score,
        UNSET if payout_usd_cents is None else payout_usd_cents,
        UNSET if refund_usd_cents is None else refund_usd_cents,
        UNSET if rake_usd_cents is None else rake_usd_cents,
        UNSET if started_at is None else started_at,
        UNSET if ended_at is None else ended_at,
    )


async def read_results(call: Call) -> Answer:
    """Return the rows after the cursor. With `waitSeconds`, wait while there are none."""
    services, principal = call.services, call.principal
    limit = wanted_limit(call)
    wait_s = int_param(dict(call.query), "waitSeconds", 0, WAIT_MAX_S, 0)
    if isinstance(limit, BadRequest):
        return limit
    if isinstance(wait_s, BadRequest):
        return wait_s
    after = await _start(call)
    if not isinstance(after, int):
        return after
    if wait_s == 0:
        return await _page(call, after, limit)
    bell = services.parts.bells.bell(principal.partner_id, principal.environment)
    page = await _page(call, after, limit)
    if page.results:
        return page
    with services.parts.bells.hold(principal.partner_id) as held:
        return await _held_page(call, page, bell, after, limit, wait_s) if held else page


async def _start(call: Call) -> int | Refusal | BadRequest:
    """Return the position after which the page begins, as `cursor` or `since` asks."""
    parts, principal = call.services.parts, call.principal
    owner = (principal.partner_id, principal.environment)
    since = call.query.get("since")
    if since is not None:
        if not _SECONDS.fullmatch(since):
            return BadRequest("Query parameter `since` must be a time in epoch seconds.")
        if "cursor" in call.query:
            return BadRequest("Query parameter `since` cannot be given together with `cursor`.")
        at = int(since)
        if at > parts.clock.now() + SINCE_AHEAD_MAX_S:
            return BadRequest(_TOO_LATE)
        database = parts.database
        return await read_in_bulk(
            database, lambda reader: position_since(reader, *owner, at), database.since_limit
        )
    if "cursor" not in call.query:
        return 0
    position = read_cursor(parts.ring, call.query["cursor"], CURSOR_KIND, *owner)
    if not isinstance(position, int):
        return refuse("invalid_cursor")
    head = (await find_head(parts.database.reader, *owner)).feed_position
    return position if position <= head else await _tell_of_rewound(call, position, head)


async def _tell_of_rewound(call: Call, position: int, head: int) -> Refusal:
    """Refuse a cursor that is ahead of the feed, which happens after an old copy was restored.

    The process reports this once for each feed, in the log, the metrics and the account's event
    log. If the event log could not be written, the next such cursor is reported again.
    """
    parts, principal = call.services.parts, call.principal
    owner = (principal.partner_id, principal.environment)
    if parts.database_watch.note_rewound(*owner):
        parts.on_event("feed_rewound")
        log.error(
            "feed_rewound",
            partner_id=principal.partner_id,
            environment=principal.environment,
            cursor=position,
            head=head,
        )
        note = NoteRewound(PLATFORM, principal.environment, position - head)
        try:
            await call.services.directory.partner(principal.partner_id).account().ask(note)
        except NotOwned:
            parts.database_watch.forget_rewound(*owner)
            raise
        except (Crashed, Degraded, Overloaded):
            parts.database_watch.forget_rewound(*owner)
    return refuse("invalid_cursor")


async def _held_page(
    call: Call, page: ResultsPage, bell: trio.Event, after: int, limit: int, wait_s: int
) -> ResultsPage | Refusal | BadRequest:
    """Return the first page with rows, an empty one after `wait_s`, or the refusal of `recheck`.

    `page` was read after `bell` was taken, so a row that it lacks has rung the bell or will ring
    it. A scheduled revocation of the key and a stop of the service end the wait earlier. Raises
    `NotOwned` once this node has given the partner up.
    """
    principal, parts = call.principal, call.services.parts
    until = trio.current_time() + wait_s
    if principal.key.revokes_at is not None:
        left_s = principal.key.revokes_at - parts.clock.now()
        until = min(until, trio.current_time() + max(0, left_s))
    while not page.results and trio.current_time() < until and not parts.bells.stopped:
        _check_owned(call)  # no bell rings after a hand-over
        with trio.move_on_at(until):
            await bell.wait()
        _check_owned(call)
        refusal = recheck(call.services, principal)
        if refusal is not None:
            return refusal
        bell = parts.bells.bell(principal.partner_id, principal.environment)
        page = await _page(call, after, limit)
    return page


def _check_owned(call: Call) -> None:
    if not call.services.is_here(call.principal.partner_id):
        raise NotOwned(call.principal.partner_id)


async def _page(call: Call, after: int, limit: int) -> ResultsPage:
    principal, parts = call.principal, call.services.parts
    feed = (principal.partner_id, principal.environment)
    rows, position, more = await _rows(parts, feed, after, limit)
    return ResultsPage(
        environment=principal.environment,
        results=rows,
        next_cursor=make_cursor(parts.ring, CURSOR_KIND, *feed, position),
        has_more=more,
    )


async def _rows(
    parts: Parts, feed: Feed, after: int, limit: int
) -> tuple[list[ResultRow], int, bool]:
    """Return the rows of a page, the last one's position, and whether more rows follow.

    Without rows, the position is `after`.

    Rows that are read again and again are found by their positions, which costs a tenth of reading
    their columns and making their records.
    """
    kept: FeedRows[ResultRow] = parts.feed_rows
    reader = parts.database.reader
    if kept.reaches(feed, after):
        positions = await feed_positions(reader, *feed, after, limit + 1)
        shown = positions[:limit]
        known = kept.find(feed, shown)
        if known:
            return known, shown[-1], len(positions) > limit
    rows = await feed_page(reader, *feed, after, limit + 1)
    shown_rows = rows[:limit]
    made = [result_row(row) for row in shown_rows]
    position = shown_rows[-1][-1] if shown_rows else after
    if kept.note(feed, after, position):
        kept.keep(feed, {row[-1]: each for row, each in zip(shown_rows, made, strict=True)})
    return made, position, len(rows) > limit


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/partner/results",
        handler=read_results,
        response=ResultsPage,
        query=frozenset({"cursor", "limit", "since", "waitSeconds"}),
        held=frozenset({"since", "waitSeconds"}),
        errors=("invalid_cursor",),
        summary="The results feed",
    ),
)
