"""The calls of the service as values. `Client` and `TrioClient` make them."""

from collections.abc import Mapping
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from pgs_client.flows import Call
from pgs_client.records import (
    Account,
    Answer,
    Invoice,
    InvoicedMatch,
    InvoiceLine,
    Json,
    Match,
    Page,
    Readiness,
    Record,
    Row,
    Seat,
    Session,
    Tier,
    Unreadable,
    read_list,
)

R = TypeVar("R", bound=Record)

PAGE_MAX = 500
"""Entries of a page, the most that the service allows: fewer calls for a long list."""


def _path(*parts: str, query: Mapping[str, Any] | None = None) -> str:
    if not {"", ".", ".."}.isdisjoint(parts):
        raise ValueError("an id is empty or is no id")
    path = "/partner/" + "/".join(quote(part, safe="") for part in parts)
    said = {name: str(value) for name, value in (query or {}).items() if value is not None}
    return f"{path}?{urlencode(said)}" if said else path


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _whole(sent: Json, _: Answer) -> Json:
    return sent


def _read_seat(sent: Json, answer: Answer) -> Seat:
    seat = Seat.read(sent)
    if answer.headers.get("idempotent-replayed") != "true":
        return seat
    return Seat(**{**vars(seat), "replayed": True})


def _page_of(kind: type[R], name: str, sent: Json, answer: Answer) -> Page[R]:
    cursor, more = sent.get("nextCursor"), sent.get("hasMore")
    if not isinstance(more, bool) or not (cursor is None or isinstance(cursor, str)):
        raise Unreadable(f"the page of {name} has no nextCursor or no hasMore")
    return Page(read_list(kind, sent, name), cursor, more, answer.took_s)


def me() -> Call[Account]:
    """Read the account and the environment of the key."""
    return Call("GET", _path("me"), lambda sent, _: Account.read(sent))


def tiers(game_id: str) -> Call[tuple[Tier, ...]]:
    """Read what a seat at a game costs and pays, for each tier on offer."""
    path = _path("tiers", query={"gameId": game_id})
    return Call(
        "GET", path, lambda sent, _: read_list(Tier, sent, "tiers"), echo={"gameId": game_id}
    )


def readiness(game_id: str) -> Call[Readiness]:
    """Read every gate between the account and a seat at a game."""
    path = _path("readiness", query={"gameId": game_id})
    return Call("GET", path, lambda sent, _: Readiness.read(sent), echo={"gameId": game_id})


def mint(
    game_id: str, player_id: str, display_name: str | None = None, ttl_seconds: int | None = None
) -> Call[Session]:
    """Get a session for a player's frame. It seats nobody and costs nothing."""
    who = {"gameId": game_id, "playerId": player_id}
    sent = {**who, **_given(displayName=display_name, ttlSeconds=ttl_seconds)}
    return Call("POST", _path("sessions"), lambda got, _: Session.read(got), sent, echo=who)


def seat(
    game_id: str,
    player_id: str,
    tier_id: str,
    stake_usd_cents: int,
    idempotency_key: str,
    partner_ref: str | None = None,
) -> Call[Seat]:
    """Take a paid seat. The call is repeated while the stake is pending."""
    names = {
        "playerId": player_id,
        "gameId": game_id,
        "tierId": tier_id,
        "idempotencyKey": idempotency_key,
    }
    sent = {**names, "stakeUsdCents": stake_usd_cents, **_given(partnerRef=partner_ref)}
    return Call(
        "POST",
        _path("matches"),
        _read_seat,
        sent,
        echo=names,
        is_settled=lambda taken: taken.status != "pending",
    )


def read_seat(seat_id: str) -> Call[Seat]:
    """Read a seat as it is now."""
    return Call("GET", _path("seats", seat_id), _read_seat, echo={"seatId": seat_id})


def cancel(seat_id: str) -> Call[Seat]:
    """Take a waiting seat back. Its stake is refunded."""
    return Call("POST", _path("seats", seat_id, "cancel"), _read_seat, echo={"seatId": seat_id})


def _read_match(sent: Json, _: Answer) -> Match:
    return Match.read(sent)


def match(match_id: str) -> Call[Match]:
    """Read a match as it is now."""
    return Call("GET", _path("matches", match_id), _read_match, echo={"matchId": match_id})


def decide(match_id: str, winner_player_id: str | None) -> Call[Match]:
    """End a test match with a winner, or as a draw for None. Needs a test key."""
    return _decision(match_id, {"outcome": "ended", "winnerPlayerId": winner_player_id})


def call_off(match_id: str) -> Call[Match]:
    """End a test match without a contest: both stakes go back. Needs a test key."""
    return _decision(match_id, {"outcome": "no_contest"})


def _decision(match_id: str, sent: Json) -> Call[Match]:
    path = _path("test", "matches", match_id, "decide")
    return Call("POST", path, _read_match, sent, echo={"matchId": match_id})


def results(
    cursor: str | None = None,
    wait_s: int = 0,
    limit: int | None = None,
    since: int | None = None,
) -> Call[Page[Row]]:
    """Read a page of the feed after a cursor. The service may hold the call until there are rows.

    `wait_s`: seconds for which it may hold the call, 0 to 25.
    Without a cursor, `since` (epoch seconds) begins at the first row that changed then or later.
    `follow` and `catch_up` do this with a store.
    """
    query = {"cursor": cursor, "since": since, "limit": limit, "waitSeconds": wait_s or None}
    path = _path("results", query=query)
    return Call(
        "GET",
        path,
        lambda sent, answer: _page_of(Row, "results", sent, answer),
        held_s=wait_s,
    )


def invoices(
    from_day: str | None = None,
    to_day: str | None = None,
    status: str | None = None,
    cursor: str | None = None,
    limit: int | None = PAGE_MAX,
) -> Call[Page[Invoice]]:
    """Read a page of the invoices, the newest first. Days are written yyyymmdd."""
    query = {"from": from_day, "to": to_day, "status": status, "cursor": cursor, "limit": limit}
    return Call(
        "GET",
        _path("invoices", query=query),
        lambda sent, answer: _page_of(Invoice, "invoices", sent, answer),
    )


def invoice(invoice_id: str) -> Call[Invoice]:
    """Read an invoice."""
    return Call(
        "GET",
        _path("invoices", invoice_id),
        lambda sent, _: Invoice.read(sent),
        echo={"invoiceId": invoice_id},
    )


def invoice_lines(
    invoice_id: str, cursor: str | None = None, limit: int | None = PAGE_MAX
) -> Call[Page[InvoiceLine]]:
    """Read a page of an invoice's lines."""
    return Call(
        "GET",
        _path("invoices", invoice_id, "lines", query={"cursor": cursor, "limit": limit}),
        lambda sent, answer: _page_of(InvoiceLine, "lines", sent, answer),
    )


def line_matches(
    invoice_id: str, line_id: str, cursor: str | None = None, limit: int | None = PAGE_MAX
) -> Call[Page[InvoicedMatch]]:
    """Read a page of the matches that a line bills."""
    query = {"cursor": cursor, "limit": limit}
    return Call(
        "GET",
        _path("invoices", invoice_id, "lines", line_id, "matches", query=query),
        lambda sent, answer: _page_of(InvoicedMatch, "matches", sent, answer),
    )


def usage(from_day: str, to_day: str) -> Call[Json]:
    """Read how many matches each final day has, and their money. Returns the JSON unchanged."""
    return Call("GET", _path("usage", query={"from": from_day, "to": to_day}), _whole)


def seat_summary(from_day: str, to_day: str) -> Call[Json]:
    """Read what became of the seats of some final days; the JSON is returned unchanged."""
    return Call("GET", _path("seat-summary", query={"from": from_day, "to": to_day}), _whole)


def digest(from_day: str, to_day: str) -> Call[Json]:
    """Read a hash of each final day's rows of the feed; the JSON is returned unchanged."""
    return Call("GET", _path("results", "digest", query={"from": from_day, "to": to_day}), _whole)


def theme() -> Call[Json]:
    """Read the theme of the frame; the JSON is returned unchanged."""
    return Call("GET", _path("theme"), _whole)


def write_theme(fields: Json) -> Call[Json]:
    """Replace the test theme of the frame. Omitted fields go back to their defaults."""
    return Call("PUT", _path("theme"), _whole, fields)
