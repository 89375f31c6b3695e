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


class Place(msgspec.Struct, frozen=True):
    """What the edge derives from a path: the bytes that a body may have, and the path for the log.

    `root`: the part of the interface that has the path. The headers of responses depend on it.
    """

    limit: int
    shown: str
    root: str


class Call(HidesSecrets, msgspec.Struct, frozen=True):
    """A request with a plain head.

    `route` is what answers it. `body_at` and `end` are offsets in its bytes.
    """

    SECRETS = frozenset({"head"})

    head: PlainHead
    route: Any
    place: Place
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
    """What the lanes of all connections of one listener share.

    `now` is trio's clock. `inputs`, whose `run` the listener runs, has the input of each
    connection. Make a lane inside the trio run.
    """

    def __init__(self, edge: Edge, app: DirectApp) -> None:
        self.now = trio.lowlevel.current_clock().current_time
        self.inputs = Inputs()
        self.edge = edge
        self._app = app
        self._heads = ResponseHeads(edge.settings.current_version)
        self._read_head = HeadReader(app.direct_paths).read
        self._places: dict[bytes, Place] = {}  # by path, for those that the application declares

    def take(self, raw: bytes) -> Call | Unfinished | None:
        """Return the request at the beginning of `raw`; None if it is not one for the lane."""
        at = raw.find(END)
        if at < 0:
            return UNFINISHED if may_become_plain(raw) else None
        head = self._read_head(raw[:at])
        if head is None:
            return None
        route = self._app.find_direct(head.method, head.path)
        if route is None:
            return None
        place = self._places.get(head.path) or self._place_of(head.path)
        if head.length > place.limit:
            return None
        at += len(END)
        return Call(head, route, place, at, at + head.length)

    def find_upgrade(self, raw: bytes) -> Upgrade | None:
        """Return the handshake in `raw`; None if `raw` is not exactly one plain handshake."""
        at = raw.find(END)
        if at < 0 or at + len(END) < len(raw):
            return None
        return read_upgrade(raw[:at])

    def serves(self, upgrade: Upgrade) -> bool:
        """Return whether the lane serves a handshake."""
        return self._app.serves_socket(upgrade.path, upgrade.headers, upgrade.subprotocols)

    def _place_of(self, raw_path: bytes) -> Place:
        path = raw_path.decode()
        place = Place(self.edge.settings.body_limit(path), shown(path), root_of(path))
        if raw_path in self._app.direct_paths:
            self._places[raw_path] = place
        return place

    async def answer(
        self, call: Call, body: bytes, receive: Receive, started: float, *, last: bool
    ) -> Written | None:
        """Return the response to a request; None if the client has left.

        `started` is when the request had arrived. With `last` the response says that the connection
        ends.
        """
        edge, head, place = self.edge, call.head, call.place
        request_id = edge.new_request_id()
        status = 0
        try:
            try:
                answer = await self._app.answer_direct(
                    call.route,
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
            except ClientGone:
                return None
            except Exception as crash:
                answer = self._answer_to_crash(request_id, crash)
            status = answer.status
            last = last or _CLOSE in answer.headers
            content = self._heads.with_head(answer, place.root, request_id, started, last=last)
            return Written(content, last)
        finally:
            edge.log(request_id, head.method, place.shown, status, started, self.now())

    def _answer_to_crash(self, request_id: str, crash: Exception) -> DirectAnswer:
        report_crash(self.edge.settings.on_event, request_id, crash)
        _, content = answer_to(CRASH, close=True)
        return DirectAnswer(500, ((b"content-type", b"application/json"), _CLOSE), content)
