"""Refusals of one kind fill no log: ten lines a second, then a count."""

from collections.abc import MutableMapping
from typing import Any

import trio
from structlog.testing import capture_logs
from trio.testing import MockClock

from pgs.http.transport.asgi import Receive, Scope, Send
from pgs.http.transport.edge import Edge
from pgs.http.transport.log_budget import LINES_PER_S, LogBudget


async def call(edge: Edge, path: str) -> None:
    """Send one GET through the edge."""

    async def receive() -> dict[str, object]:
        await trio.lowlevel.checkpoint()
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        await trio.lowlevel.checkpoint()

    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(b"host", b"h")],
    }
    await edge(scope, receive, send)


def test_ten_lines_of_a_kind_are_logged_each_second_and_the_rest_counted() -> None:
    told = list[str]()
    budget = LogBudget(told.append)
    with capture_logs() as lines:
        assert [budget.may_log("401 partner", 0.5) for _ in range(25)] == [
            *[True] * LINES_PER_S,
            *[False] * 15,
        ]
        assert budget.may_log("429 game", 0.9)
        assert lines == []
        assert budget.may_log("401 partner", 1.5)
    assert lines == [
        {
            "event": "log_lines_left_out",
            "log_level": "warning",
            "kind": "401 partner",
            "lines": 15,
        }
    ]
    assert told == ["log_lines_left_out"] * 15


def test_a_flood_that_is_over_is_summed_up_by_the_next_request_of_any_kind() -> None:
    budget = LogBudget()
    for _ in range(12):
        budget.may_log("401 admin", 0.0)
    with capture_logs() as lines:
        budget.report(0.9)
        assert lines == []
        budget.report(1.0)
        budget.report(2.0)
    assert [line["lines"] for line in lines] == [2]


async def test_refused_requests_are_bounded_in_the_log_and_good_ones_are_not(
    mock_clock: MockClock,
) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await trio.lowlevel.checkpoint()
        status = int(scope["path"].rsplit("/", 1)[1])
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    edge = Edge(app, new_request_id=lambda: "req_x", current_version=1)
    with capture_logs() as lines:
        for _ in range(20):
            for path in ("/partner/401", "/partner/admin/401", "/game/429", "/x/404", "/game/200"):
                await call(edge, path)
        mock_clock.jump(1)
        await call(edge, "/game/200")
    statuses = [(line["status"], line["path"]) for line in lines if line["event"] == "request"]
    assert statuses.count((200, "/game/200")) == 21
    for one in ((401, "/partner/401"), (401, "/partner/admin/401"), (429, "/game/429")):
        assert statuses.count(one) == LINES_PER_S
    left_out = {line["kind"]: line["lines"] for line in lines if "kind" in line}
    assert left_out == {"401 partner": 10, "401 admin": 10, "429 game": 10, "404 elsewhere": 10}
