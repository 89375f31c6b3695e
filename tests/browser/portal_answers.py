"""Answers of the admin API with more entries, and older days, than a demo has."""

import json
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Page, Route

LATEST: Final = "20261120"
"""The last final day."""

DAYS: Final = [f"202611{day:02}" for day in range(7, 21)]
MATCHES: Final = [142, 151, 139, 158, 166, 149, 164, 171, 148, 182, 190, 203, 226, 193]
NEWEST_AT: Final = 1_795_313_646


def _figures(matches: int) -> dict[str, int]:
    stakes, rake = matches * 1000, matches * 100
    return {
        "matches": matches,
        "seats": 2 * matches,
        "noContests": 0,
        "stakesUsdCents": stakes,
        "payoutsUsdCents": stakes - rake,
        "refundsUsdCents": 0,
        "rakeUsdCents": rake,
    }


def _usage(query: dict[str, str]) -> tuple[int, dict[str, Any]]:
    if query["to"] > LATEST:
        told = {"error": "The day is not final.", "reason": "day_not_final", "latestDay": LATEST}
        return 400, told
    earlier = query["to"] < DAYS[0]
    days = [{"day": day, **_figures(n)} for day, n in zip(DAYS, MATCHES, strict=True)]
    matches = 2000 if earlier else sum(MATCHES)
    common = {"environment": "test", "from": DAYS[0], "to": LATEST, "latestDay": LATEST}
    return 200, common | {"days": days, "totals": _figures(matches)}


def _seats() -> dict[str, Any]:
    figures = {"seats": 40, "confirmed": 40, "refunded": 2, "stakesUsdCents": 20_000}
    figures |= {"payoutsUsdCents": 17_000, "refundsUsdCents": 1_000, "rakeUsdCents": 2_000}
    figures |= {"openUsdCents": 0}
    row = {"gameId": "connect-four", "tierId": "silver", **figures}
    common = {"environment": "test", "from": DAYS[0], "to": LATEST, "latestDay": LATEST}
    return common | {"rows": [row], "totals": figures}


def _invoice(number: int, status: str, **more: object) -> dict[str, Any]:
    month = {7: "10", 6: "09"}[number]
    return {
        "invoiceId": f"inv_{number}",
        "environment": "test",
        "status": status,
        "number": number,
        "periodFrom": f"2026{month}01",
        "periodTo": f"2026{month}31" if month == "10" else f"2026{month}30",
        "createdAt": 1_793_500_000,
        "finalizedAt": 1_793_500_000,
        "dueAt": 1_796_083_200,
        "totalUsdCents": 190_240,
        "lineCount": 2,
        **more,
    }


OPEN: Final = _invoice(7, "open")
DRAFT: Final = {
    "invoiceId": "inv_8",
    "environment": "test",
    "status": "draft",
    "periodFrom": "20261101",
    "periodTo": "20261130",
    "createdAt": 1_793_500_000,
}
INVOICES: Final = [DRAFT, OPEN, _invoice(6, "paid", paidAt=1_791_800_000)]
LINES: Final = [
    {
        "lineId": f"lin_{day}",
        "day": day,
        "gameId": "connect-four",
        "tierId": "silver",
        "description": f"connect-four, silver, {day}",
        "matches": 2,
        "amountUsdCents": 95_120,
    }
    for day in ("20261030", "20261031")
]
LINE_MATCHES: Final = [
    {"matchId": f"mat_{number}", "endedAt": NEWEST_AT, "rakeUsdCents": 47_560} for number in (1, 2)
]


def _event(number: int) -> dict[str, Any]:
    kind = ("key.created", "prices.set", "webhook.disabled")[number % 3]
    detail = {"environment": "test", "label": f"shop {number}", "last4": "0tBx"}
    return {
        "eventId": f"evt_{number}",
        "at": NEWEST_AT - number,
        "actor": "platform",
        "action": kind,
        "detail": detail,
    }


def attempt(number: int) -> dict[str, Any]:
    """Return one of many attempts, the newest first. Every third has failed, but not the first."""
    failed = number > 0 and number % 3 == 0
    return {
        "attemptId": f"att_{number}",
        "nudgeId": f"ndg_{number}",
        "at": NEWEST_AT - number,
        "try": 1,
        "delivered": not failed,
        "statusCode": 500 if failed else 200,
        "durationMs": 90,
        "responseBody": "KeyError: matchId" if failed else "ok",
        "matchId": f"mat_{number}",
        "test": False,
        "resend": False,
    }


def _page(name: str, entries: list[dict[str, Any]], query: dict[str, str]) -> dict[str, Any]:
    first, limit = int(query.get("cursor", "0")), int(query["limit"])
    end = first + limit
    more = end < len(entries)
    return {name: entries[first:end], "nextCursor": str(end) if more else None, "hasMore": more}


def answer_figures(page: Page) -> None:
    """Let a page read usage, seats and invoices of a month with play."""

    def answer(route: Route) -> None:
        where = urlsplit(route.request.url)
        query = {name: values[0] for name, values in parse_qs(where.query).items()}
        path = where.path.removeprefix("/partner/admin/")
        status, told = 200, _answer_of(path, query)
        if path.startswith("usage/"):
            status, told = _usage(query)
        route.fulfill(status=status, content_type="application/json", body=json.dumps(told))

    for part in ("usage/*", "seat-summary/*", "invoices?*", "invoices/**"):
        page.route(f"**/partner/admin/{part}", answer)


def _answer_of(path: str, query: dict[str, str]) -> object:
    if path.startswith("seat-summary/"):
        return _seats()
    if path == "invoices":
        return _page("invoices", INVOICES, query)
    if path.endswith("/matches"):
        return _page("matches", LINE_MATCHES, query)
    if path.endswith("/lines"):
        return _page("lines", LINES, query)
    return OPEN | {"environment": query.get("environment", "test")}


def answer_logs(page: Page, count: int) -> None:
    """Let a page read an event log and a log of attempts with `count` entries each."""
    events = [_event(number) for number in range(count)]
    attempts = [attempt(number) for number in range(count)]

    def answer(route: Route) -> None:
        where = urlsplit(route.request.url)
        query = {name: values[0] for name, values in parse_qs(where.query).items()}
        name, entries = ("events", events) if "/events" in where.path else ("attempts", attempts)
        told = _page(name, entries, query)
        route.fulfill(content_type="application/json", body=json.dumps(told))

    page.route("**/partner/admin/events?*", answer)
    page.route("**/partner/admin/webhooks/*/attempts?*", answer)
