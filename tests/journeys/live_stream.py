"""A reader of `GET live` on its own connection."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import h11
import trio

from tests.journeys.admin_client import (
    BOSS,
    AdminClient,
    person,
)
from tests.patience import PATIENCE_S

Event = tuple[str, dict[str, Any]]


class Stream:
    """Reads a stream on its own connection."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self._stream = stream
        self._http = h11.Connection(h11.CLIENT)
        self._read = b""
        self._done = False

    async def open(self, path: str, token: str) -> h11.Response:
        """Send the request; return the head of the answer."""
        headers = [("Host", "service"), ("Authorization", f"Bearer {token}")]
        await self._stream.send_all(
            self._http.send(h11.Request(method="GET", target=path, headers=headers)) or b""
        )
        await self._stream.send_all(self._http.send(h11.EndOfMessage()) or b"")
        head = await self._event()
        assert isinstance(head, h11.Response)
        return head

    async def _event(self) -> object:
        with trio.fail_after(PATIENCE_S):
            while (event := self._http.next_event()) is h11.NEED_DATA:
                self._http.receive_data(bytes(await self._stream.receive_some()))
        return event

    async def next(self) -> Event | None:
        """Return the next event; None at the end of the stream, which must not cut an event."""
        while True:
            while b"\n\n" not in self._read and not self._done:
                event = await self._event()
                if isinstance(event, h11.Data):
                    self._read += bytes(event.data)
                else:
                    assert isinstance(event, h11.EndOfMessage)
                    self._done = True
            if self._done and not self._read:
                return None
            block, _, self._read = self._read.partition(b"\n\n")
            fields = dict(line.split(": ", 1) for line in block.decode().split("\n"))
            if "event" in fields:
                return fields["event"], json.loads(fields["data"])
            assert fields.keys() == {"retry"}

    async def until_kind(self, kind: str) -> dict[str, Any]:
        """Return the next event of a kind."""
        while (event := await self.next()) is not None:
            if event[0] == kind:
                return event[1]
        raise AssertionError(f"the stream ended without {kind}")

    async def rest(self) -> list[Event]:
        """Return all further events, up to the end of the stream."""
        events = []
        while (event := await self.next()) is not None:
            events.append(event)
        return events


@asynccontextmanager
async def watching(
    admin: AdminClient, environment: str = "test", who: str = BOSS, lifetime_s: int = 3600
) -> AsyncIterator[Stream]:
    """Open a stream on its own connection and read its first event, `budget`.

    The token lasts for `lifetime_s`.
    """
    port = int(admin.service.public.next_url.rpartition(":")[2])
    async with await trio.open_tcp_stream("127.0.0.1", port) as connection:
        stream = Stream(connection)
        token = admin.issuer.mint_token(person(who), lifetime_s=lifetime_s)
        head = await stream.open(f"/partner/admin/live?environment={environment}", token)
        headers = dict(head.headers)
        assert head.status_code == 200
        assert headers[b"content-type"] == b"text/event-stream"
        assert headers[b"x-accel-buffering"] == b"no"  # or a proxy may hold events back
        assert headers[b"x-service-api-version"] == b"1"
        assert headers[b"x-request-id"].startswith(b"req_")
        first = await stream.next()
        assert first is not None
        assert first[0] == "budget"
        assert first[1].keys() == {"at", "left", "burst"}
        yield stream
