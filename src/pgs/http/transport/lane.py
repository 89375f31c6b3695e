"""The lane: a short way from a connection to the application for requests with a plain head.

For a small request, hypercorn and h11 take 100 µs, and tasks and channels take another 100 µs. The
lane takes a tenth of that. It serves requests that `plain_heads` reads and that the application
answers directly. It gives all others to hypercorn, with their bytes untouched, so that one parser
judges each request. As at the edge, each request gets an id and a line in the access log, and its
response has the usual headers.
"""

from typing import Any, Final

import msgspec
import trio

from pgs.domain.secrets import HidesSecrets
from pgs.http.transport.asgi import ClientGone, Receive
from pgs.http.transport.direct import DirectAnswer, DirectApp, DirectRequest
from pgs.http.transport.edge import Edge, shown
from pgs.http.transport.exchange import CRASH, answer_to, report_crash
from pgs.http.transport.head_cache import HeadReader
from pgs.http.transport.inputs import Inputs
from pgs.http.transport.plain_heads import END, PlainHead, may_become_plain
from pgs.http.transport.response_heads import ResponseHeads, root_of
from pgs.http.transport.upgrades import Upgrade, read_upgrade

_CLOSE: Final = (b"connection", b"close")

_END_BYTES: Final = len(END)


class Target(msgspec.Struct, frozen=True):
    """What depends only on the method and path of a request.

    `route`: what answers the request. `limit`: the bytes that its body may have. `shown`: the path
    for the log. `root`: the part of the interface that has the path. The headers of responses
    depend on it.
    """

    route: Any
    limit: int
    shown: str
    root: str


class Call(HidesSecrets, msgspec.Struct, frozen=True):
    """A request with a plain head. `body_at` and `end` are offsets in its bytes."""

    SECRETS = frozenset({"head"})

    head: PlainHead
    target: Target
    body_at: int
    end: int


class Unfinished(msgspec.Struct, frozen=True):
    """More bytes are needed before a request can be judged."""


class Written(msgspec.Struct, frozen=True):
    """The bytes of a response, whether the connection ends after it, and when it was made."""

    content: bytes
    last: bool
    made_at: float


UNFINISHED: Final = Unfinished()


class Lane:
    """What the lanes of all connections of one listener share.

    `now` is trio's clock. `inputs`, which the listener runs and closes, has the input of each
    connection. Make a lane inside the trio run.
    """

    def __init__(self, edge: Edge, app: DirectApp) -> None:
        self.now = trio.lowlevel.current_clock().current_time
        self.inputs = Inputs()
        self.edge = edge
        self._app = app
        self._heads = ResponseHeads(edge.settings.current_version)
        self._read_head = HeadReader(app.direct_paths).read
        # Targets by method and path, kept only for `direct_paths`: those are few, and the target of
        # one of them never changes.
        self._targets: dict[tuple[str, bytes], Target] = {}

    def take(self, raw: bytes) -> Call | Unfinished | None:
        """Return the request at the beginning of `raw`; None if it is not one for the lane."""
        at = raw.find(END)
        if at < 0:
            return UNFINISHED if may_become_plain(raw) else None
        head = self._read_head(raw[:at])
        if head is None:
            return None
        target = self._targets.get((head.method, head.path)) or self._find(head)
        if target is None or head.length > target.limit:
            return None
        at += _END_BYTES
        return Call(head, target, at, at + head.length)

    def find_upgrade(self, raw: bytes) -> Upgrade | None:
        """Return the handshake in `raw`; None if `raw` is not exactly one plain handshake."""
        at = raw.find(END)
        if at < 0 or at + _END_BYTES < len(raw):
            return None
        return read_upgrade(raw[:at])

    def serves(self, upgrade: Upgrade) -> bool:
        """Return whether the lane serves a handshake."""
        return self._app.serves_socket(upgrade.path, upgrade.headers, upgrade.subprotocols)

    def _find(self, head: PlainHead) -> Target | None:
        route = self._app.find_direct(head.method, head.path)
        if route is None:
            return None
        path = head.path.decode()
        target = Target(route, self.edge.settings.body_limit(path), shown(path), root_of(path))
        if head.path in self._app.direct_paths:
            self._targets[head.method, head.path] = target
        return target

    async def answer(
        self, call: Call, body: bytes, receive: Receive, started: float, *, last: bool
    ) -> Written | None:
        """Return the response to a request; None if the client has left.

        `started` is when the request had arrived. With `last` the response says that the connection
        ends.
        """
        edge, head, target = self.edge, call.head, call.target
        request_id = edge.new_request_id()
        status = 0
        try:
            answer = await self._app.answer_direct(
                target.route,
                DirectRequest(
                    head.path,
                    head.query,
                    head.headers,
                    body,
                    request_id,
                    receive,
                    started,
                    head.forwarded,
                ),
            )
            status = answer.status
        except ClientGone:
            return None
        except Exception as crash:
            answer = self._answer_to_crash(request_id, crash)
            status = answer.status
        finally:
            made_at = self.now()
            edge.log(request_id, head.method, target.shown, status, started, made_at)
        last = last or _CLOSE in answer.headers
        content = self._heads.with_head(answer, target.root, request_id, started, last=last)
        return Written(content, last, made_at)

    def _answer_to_crash(self, request_id: str, crash: Exception) -> DirectAnswer:
        report_crash(self.edge.settings.on_event, request_id, crash)
        _, content = answer_to(CRASH, close=True)
        return DirectAnswer(500, ((b"content-type", b"application/json"), _CLOSE), content)
