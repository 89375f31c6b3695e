"""The internal listener: health, readiness, metrics, a node's shards, the refresh of the registry.

`POST /internal/registry/refresh` makes the service read all accounts again. The listener's address
must be reachable only from within the deployment, because no path asks for a credential.
"""

from collections.abc import Awaitable, Callable
from typing import Final

import msgspec
import structlog

from pgs.http.api.responses import NOTHING_HERE, refuse_method
from pgs.http.transport.asgi import Receive, Scope, Send
from pgs.storage.transactions import StoreOutage

log = structlog.get_logger("pgs.http")

Answer = tuple[int, bytes, bytes]  # status, content type, body
_JSON, _TEXT = b"application/json", b"text/plain; version=0.0.4; charset=utf-8"

_METHODS: Final = {
    "/internal/healthz": "GET",
    "/internal/readyz": "GET",
    "/internal/metrics": "GET",
    "/internal/shards": "GET",
    "/internal/registry/refresh": "POST",
}


class Answering(msgspec.Struct, frozen=True):
    """A node, and for each shard that it answers for, the seconds since it began to answer."""

    node: str
    shards: dict[int, float]


class InternalApp:
    """An ASGI application.

    `ready` returns None, or the reason why the service is not ready. `notes` returns further
    remarks for the operator, by name. `shards` returns what this node answers for; None if this
    process is not one of several nodes.
    """

    def __init__(
        self,
        *,
        ready: Callable[[], Awaitable[str | None]],
        scrape: Callable[[], bytes],
        refresh: Callable[[], Awaitable[None]],
        notes: Callable[[], dict[str, str]] = dict,
        shards: Callable[[], Answering | None] = lambda: None,
    ) -> None:
        self._ready = ready
        self._scrape = scrape
        self._refresh = refresh
        self._notes = notes
        self._shards = shards

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "lifespan":
            await _live(receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1000})
            return
        expected = _METHODS.get(scope["path"])
        if expected is not None and scope["method"] != expected:
            await refuse_method(send, [expected])
            return
        status, content_type, body = await self._answer(scope["path"])
        headers = [
            (b"content-type", content_type),
            (b"content-length", b"%d" % len(body)),
            (b"cache-control", b"no-store"),
        ]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _answer(self, path: str) -> Answer:
        if path not in _METHODS:
            return 404, _JSON, _body(error=NOTHING_HERE)
        if path == "/internal/healthz":
            return 200, _JSON, _body(status="alive")
        if path == "/internal/metrics":
            return 200, _TEXT, self._scrape()
        if path == "/internal/shards":
            answering = self._shards()
            if answering is None:
                return 404, _JSON, _body(error="This process is not one of several nodes.")
            return 200, _JSON, msgspec.json.encode(answering)
        if path == "/internal/readyz":
            why = await self._ready()
            return (
                (200, _JSON, _body(status="ready", **self._notes()))
                if why is None
                else (503, _JSON, _body(status=why, **self._notes()))
            )
        try:
            await self._refresh()
        except StoreOutage:
            log.exception("registry_refresh_failed")
            return 503, _JSON, _body(error="The registry cannot be read.")
        return 200, _JSON, _body(status="refreshed")


def _body(**fields: str) -> bytes:
    return msgspec.json.encode(fields)


async def _live(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
