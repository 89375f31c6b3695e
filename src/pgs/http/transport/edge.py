"""The outermost layer, which every request and every response passes, except those of the lane.

It refuses malformed heads and bodies that are too long or too slow, gives each request its id, adds
headers to responses, turns an exception into a 500 without details, and writes the access log. The
responses that the edge makes itself have a JSON body: `{"error": message}`. The lane uses the
edge's settings, request ids and log.
"""

from collections.abc import Callable
from typing import Final

import structlog
import trio

from pgs.domain.hidden_credentials import without_credentials
from pgs.http.transport.asgi import App, Headers, OnEvent, Receive, Scope, Send, ignore_event
from pgs.http.transport.direct import DirectApp
from pgs.http.transport.exchange import (
    BodyLimit,
    EdgeSettings,
    HttpExchange,
    WebSocketExchange,
    answer_to,
)
from pgs.http.transport.heads import NOT_HTTP, UNREAD, Head, check_head, in_origin_form, stamp
from pgs.http.transport.log_budget import LogBudget

DEFAULT_BODY_BYTES: Final = 64 * 1024
"""Bytes of a request's body, unless its call says otherwise. The largest real one, a whole price
map, has a few KiB."""

BODY_S: Final = 10.0
"""Seconds for a body to arrive: enough for 64 KiB over a slow mobile line. A client that keeps
sending slowly gets no more time."""

LOGGED_PATH_CHARS: Final = 200
"""Characters of a path in the log. The longest route has about 120 with ids of usual length."""

_SURFACES: Final = frozenset({"partner", "game", "embed", "docs", "internal"})

_access = structlog.get_logger("pgs.access")


LogRequest = Callable[[str, str, str, int, float], None]
"""Takes a request's id, method, path, status and milliseconds."""


def default_body_limit(path: str) -> int:
    """Return `DEFAULT_BODY_BYTES` for every path."""
    return DEFAULT_BODY_BYTES


class Edge:
    """An ASGI application around another one. Lifespan events pass through untouched.

    `new_request_id` makes the id of each request, which the application finds in
    `scope["state"]["request_id"]`. `current_version` is the API version in the header of responses
    for which the application has set none. `on_event` is told of `refused` (a malformed head),
    `body_refused` (too long or too slow) and `crash`. Of the requests that are answered with 400 or
    more, ten a second are logged for each status in each part of the interface (`_surface_of`); the
    rest are counted as `log_lines_left_out`. `body_limit` returns the bytes that a path's body may
    have; `body_s` is the number of seconds for a body to arrive. `log_request` writes the line of a
    request; without it, structlog does.
    """

    def __init__(
        self,
        app: App,
        *,
        new_request_id: Callable[[], str],
        current_version: int,
        on_event: OnEvent = ignore_event,
        body_limit: BodyLimit = default_body_limit,
        body_s: float = BODY_S,
        log_request: LogRequest | None = None,
    ) -> None:
        self._app = app
        self.new_request_id = new_request_id
        self._budget = LogBudget(on_event)
        self._log_request = log_request or _log_request
        self.settings = EdgeSettings(
            current_version=current_version, on_event=on_event, body_limit=body_limit, body_s=body_s
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI scope."""
        kind = scope["type"]
        if kind not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        started = trio.current_time()
        request_id = self.new_request_id()
        scope = in_origin_form(scope)
        head = check_head(scope)
        inner = dict(scope)
        inner["state"] = {**scope.get("state", {}), "request_id": request_id}
        if isinstance(head, Head):
            inner["headers"] = head.headers
            if head.forwarded is not None:
                inner["state"]["forwarded"] = head.forwarded
        exchange = (HttpExchange if kind == "http" else WebSocketExchange)(
            self.settings, inner, head, request_id, receive, send
        )
        try:
            await exchange.run(self._app)
        finally:
            self.log(
                request_id,
                scope.get("method", "WEBSOCKET"),
                shown(scope["path"]),
                exchange.status,
                started,
                trio.current_time(),
            )

    def refuse(self, method: str, path: str, status: int) -> tuple[int, Headers, bytes]:
        """Return status, headers and body for a request that the server's parser refused.

        `status` is the parser's. The answer has 431 for a head that is too large, and 400 for
        everything else. For an unknown transfer coding the parser's status is 501, but the client
        is at fault.
        """
        request_id = self.new_request_id()
        fault = UNREAD.get(status, NOT_HTTP)
        self.settings.on_event("refused")
        now = trio.current_time()
        self.log(request_id, method, shown(path), fault.status, now, now)
        headers, body = answer_to(fault, close=True)
        return (
            fault.status,
            stamp(
                headers,
                path=path,
                request_id=request_id,
                current_version=self.settings.current_version,
            ),
            body,
        )

    @property
    def direct(self) -> DirectApp | None:
        """The application, if it can answer requests of the lane."""
        app: object = self._app
        return app if isinstance(app, DirectApp) else None

    def log(
        self, request_id: str, method: str, shown_path: str, status: int, started: float, now: float
    ) -> None:
        """Write the line of a request into the access log, as far as the budget allows.

        `started` and `now` are on trio's clock.
        """
        if status < 400:
            if self._budget.left_out:
                self._budget.report(now)
        elif not self._budget.may_log(f"{status} {_surface_of(shown_path)}", now):
            return
        duration_ms = round((now - started) * 1000, 2)
        self._log_request(request_id, method[:16], shown_path, status, duration_ms)


def _log_request(request_id: str, method: str, path: str, status: int, duration_ms: float) -> None:
    _access.info(
        "request",
        request_id=request_id,
        method=method,
        path=path,
        status=status,
        duration_ms=duration_ms,
    )


def shown(path: str) -> str:
    """Return a path for the log: without credentials, of at most `LOGGED_PATH_CHARS`."""
    return without_credentials(path)[:LOGGED_PATH_CHARS]


def _surface_of(path: str) -> str:
    """Return which part of the interface a path belongs to, one of a few names."""
    if path.startswith("/partner/admin/"):
        return "admin"
    first = path.split("/", 2)[1] if path.startswith("/") else ""
    return first if first in _SURFACES else "elsewhere"
