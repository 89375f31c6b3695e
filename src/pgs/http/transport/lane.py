"""The lane: a short way from a connection to the application for requests with a plain head.

For a small request, hypercorn and h11 take 100 µs, and tasks and channels take another 100 µs. The
lane takes a tenth of that. It takes requests that `plain_heads` reads and that the application
answers directly. It gives all others to hypercorn, with their bytes untouched, so that one parser
judges each request. Answers of the lane pass the same edge, so they have request ids and the usual
headers, and are logged and counted.
"""

from email.utils import formatdate
from http import HTTPStatus
from typing import Any, Final

import msgspec
import structlog
import trio

from pgs.domain.secrets import HidesSecrets
from pgs.http.transport.asgi import ClientGone, Headers, Receive
from pgs.http.transport.direct import DirectAnswer, DirectApp, DirectRequest
from pgs.http.transport.edge import Edge
from pgs.http.transport.exchange import CRASH, answer_to, report_crash
from pgs.http.transport.heads import stamp
from pgs.http.transport.plain_heads import END, PlainHead, may_become_plain, read_plain_head

_log = structlog.get_logger("pgs.http")

_STATUS_LINES: Final = {
    status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus
}
_CLOSE: Final = (b"connection", b"close")

_DATE_S: Final = 1.0
"""Seconds for which a `Date` header is used again. It tells whole seconds."""


class Call(HidesSecrets, msgspec.Struct, frozen=True):
    """A plain request and what answers it. `body_at` and `end` are offsets in its bytes."""

    SECRETS = frozenset({"head"})

    head: PlainHead
    found: Any
    body_at: int
    end: int


class Unfinished(msgspec.Struct, frozen=True):
    """More bytes are needed before a request can be judged."""


class Written(msgspec.Struct, frozen=True):
    """The bytes of a response, and whether the connection ends after it."""

    content: bytes
    last: bool


UNFINISHED: Final = Unfinished()


class Lane:
    """What the lanes of all connections of one listener share."""

    def __init__(self, edge: Edge, app: DirectApp) -> None:
        self._edge = edge
        self._app = app
        self._date = b""
        self._date_from = 0.0

    def take(self, raw: bytes) -> Call | Unfinished | None:
        """Return the request at the beginning of `raw`; None if it is not one for the lane."""
        at = raw.find(END)
        if at < 0:
            return UNFINISHED if may_become_plain(raw) else None
        head = read_plain_head(raw[:at])
        if head is None:
            return None
        found = self._app.find_direct(head.method, head.path)
        if found is None or head.length > self._edge.settings.body_limit(head.path.decode()):
            return None
        at += len(END)
        return Call(head, found, at, at + head.length)

    async def answer(
        self, call: Call, body: bytes, receive: Receive, *, last: bool
    ) -> Written | None:
        """Return the response to a request; None if the client has left.

        With `last` the response says that the connection ends.
        """
        edge, head = self._edge, call.head
        started = trio.current_time()
        request_id = edge.new_request_id()
        status = 0
        try:
            answer = await self._ask(
                call.found,
                DirectRequest(head.path, head.query, head.headers, body, request_id, receive),
            )
            if answer is None:
                return None
            status = answer.status
            last = last or _CLOSE in answer.headers
            return Written(self._bytes_of(answer, head, request_id, started, last=last), last)
        finally:
            edge.log(request_id, head.method, head.path.decode(), status, started)

    async def _ask(self, found: Any, request: DirectRequest) -> DirectAnswer | None:
        try:
            return await self._app.answer_direct(found, request)
        except ClientGone:
            return None
        except Exception as crash:
            report_crash(self._edge.settings.on_event, request.request_id, crash)
            _, content = answer_to(CRASH, close=True)
            return DirectAnswer(500, ((b"content-type", b"application/json"), _CLOSE), content)

    def _bytes_of(
        self, answer: DirectAnswer, head: PlainHead, request_id: str, now: float, *, last: bool
    ) -> bytes:
        own: Headers = [*answer.headers, (b"content-length", b"%d" % len(answer.content))]
        stamped = stamp(
            own,
            path=head.path.decode(),
            request_id=request_id,
            current_version=self._edge.settings.current_version,
        )
        if last and _CLOSE not in answer.headers:
            stamped.append(_CLOSE)
        lines = b"".join([b"%b: %b\r\n" % pair for pair in stamped])
        return b"%b%b%b\r\n%b" % (
            _STATUS_LINES[answer.status],
            lines,
            self._date_line(now),
            answer.content,
        )

    def _date_line(self, now: float) -> bytes:
        if now >= self._date_from + _DATE_S or not self._date:
            self._date_from = now
            self._date = f"date: {formatdate(usegmt=True)}\r\n".encode()
        return self._date
