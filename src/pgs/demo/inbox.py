"""The demo partner's webhook endpoint: receives nudges over TLS, verifies and answers them."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import msgspec
import trio

from pgs.clock import Clock
from pgs.demo.certificates import Authority, server_context
from pgs.demo.loopback import ADDRESS, HOOKS_HOST
from pgs_client import InvalidSignature, verify_webhook
from pgs_client.webhooks import SIGNATURE_HEADER

PATH = "/nudges"

KEPT = 64
"""Nudges that may wait to be read. The demo's own match makes three."""

REQUEST_S = 5.0
"""Seconds for a nudge's request to arrive. No delivery try lasts longer."""

REQUEST_MAX = 64 * 1024
"""Bytes of a nudge's request. A nudge takes a few hundred."""

_LENGTH = re.compile(rb"[0-9]{1,6}", re.ASCII)


class Received(msgspec.Struct, frozen=True):
    """One received call. `problem`: why it is refused; None for a nudge with a valid signature."""

    arrived_ms: int
    request_line: str
    signature: str
    body: bytes
    problem: str | None


class Inbox:
    """The received calls, oldest first.

    `secret` is the webhook secret of `url`. Until it is set, every call is refused.
    """

    def __init__(self, clock: Clock, port: int) -> None:
        self.url = f"https://{HOOKS_HOST}:{port}{PATH}"
        self.secret = ""
        self._clock = clock
        self._put, self._received = trio.open_memory_channel[Received](KEPT)

    async def next(self, within_s: float) -> Received | None:
        """Return the oldest unread call, or None when none arrives within `within_s` seconds."""
        with trio.move_on_after(within_s):
            return await self._received.receive()
        return None

    def __aiter__(self) -> AsyncIterator[Received]:
        return self._received

    async def answer(self, stream: trio.abc.Stream) -> None:
        """Read one call, verify and keep it, answer 200 or 400, and close the connection."""
        try:
            with trio.move_on_after(REQUEST_S):
                request = await _read(stream)
                if request is not None:
                    received = self._judge(*request)
                    self._keep(received)
                    status = b"400 Bad Request" if received.problem else b"200 OK"
                    await stream.send_all(
                        b"HTTP/1.1 %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n" % status
                    )
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass  # The caller has disconnected.
        finally:
            await trio.aclose_forcefully(stream)

    def _judge(self, line: bytes, headers: dict[bytes, bytes], body: bytes) -> Received:
        # The raw bytes are verified before anything decodes them.
        signature = headers.get(SIGNATURE_HEADER.lower().encode("ascii"), b"").decode("latin-1")
        now_ms = self._clock.now_ms()
        problem = None
        if not signature:
            problem = "there is no signature"
        elif not self._is_signed(signature, body, now_ms // 1000):
            problem = "the signature is not valid"
        return Received(now_ms, line.decode("latin-1"), signature, body, problem)

    def _is_signed(self, signature: str, body: bytes, now: int) -> bool:
        if not self.secret:
            return False
        try:
            verify_webhook(self.secret, signature, body, now=now)
        except InvalidSignature:
            return False
        return True

    def _keep(self, received: Received) -> None:
        # A full inbox drops the nudge. The feed has the same news.
        with suppress(trio.WouldBlock):
            self._put.send_nowait(received)


async def _read(stream: trio.abc.Stream) -> tuple[bytes, dict[bytes, bytes], bytes] | None:
    """Return request line, headers by lower-case name, and body; None for a broken request."""
    data = b""
    while b"\r\n\r\n" not in data:
        part = await stream.receive_some()
        data += part
        if not part or len(data) > REQUEST_MAX:
            return None
    head, _, body = data.partition(b"\r\n\r\n")
    line, *fields = head.split(b"\r\n")
    headers = {
        name.strip().lower(): value.strip()
        for name, _, value in (field.partition(b":") for field in fields)
    }
    length = headers.get(b"content-length", b"0")
    if not _LENGTH.fullmatch(length) or int(length) > REQUEST_MAX:
        return None
    while len(body) < int(length):
        part = await stream.receive_some()
        if not part:
            return None
        body += part
    return line, headers, body


@asynccontextmanager
async def open_inbox(authority: Authority, clock: Clock) -> AsyncIterator[Inbox]:
    """Yield an endpoint for nudges on this machine, with a certificate of `authority`."""
    context = server_context(authority.issue(HOOKS_HOST))
    (plain,) = await trio.open_tcp_listeners(0, host=ADDRESS)
    inbox = Inbox(clock, plain.socket.getsockname()[1])
    async with trio.open_nursery() as nursery:
        await nursery.start(
            trio.serve_listeners,
            inbox.answer,
            [trio.SSLListener(plain, context, https_compatible=True)],
        )
        yield inbox
        nursery.cancel_scope.cancel()
