"""The partners' side of scripts/bench_nudges.py, which starts it: one TLS server for all endpoints, in a process of its own.

Its first line of input is a certificate and key, and the host names that hang when told to; it prints its port. After that `hang` makes
those names read a call and never answer it, `answer` closes what hangs and lets all names answer; it says `ok` to each. It ends when its
input does.
"""

import sys
from collections.abc import AsyncIterator

import msgspec
import trio

from pgs.demo.certificates import Issued, server_context
from pgs.demo.loopback import ADDRESS

READ_S = 30.0  # longer than any try lasts, so that the caller always is the first to give up


class Setup(msgspec.Struct, frozen=True):
    """The first line. `hanging`: host names."""

    certificate: str
    key: str
    hanging: list[str]


class Endpoints:
    """All endpoints. `release` is set while those in `hanging` answer like the others."""

    def __init__(self, hanging: frozenset[bytes]) -> None:
        self._hanging = hanging
        self._release = trio.Event()
        self._release.set()

    def hang(self) -> None:
        """Let the chosen names answer nothing from now on."""
        self._release = trio.Event()

    def answer(self) -> None:
        """Close what hangs, and let every name answer."""
        self._release.set()

    async def serve(self, stream: trio.SSLStream[trio.SocketStream]) -> None:
        """Read one call, and answer it with whether its TLS handshake was a full one, or with nothing."""
        try:
            with trio.move_on_after(READ_S):
                host = await _read(stream)
                if host in self._hanging and not self._release.is_set():
                    await self._release.wait()
                    return
                said = b"resumed" if stream.session_reused else b"full"
                await stream.send_all(
                    b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s"
                    % (len(said), said)
                )
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass  # the caller has given up
        finally:
            await trio.aclose_forcefully(stream)


async def _read(stream: trio.abc.Stream) -> bytes:
    """Read a whole call; return the name that it is for."""
    data = b""
    while not data.endswith(b"}"):  # how a nudge ends, and no head does
        part = await stream.receive_some()
        if not part:
            raise trio.BrokenResourceError
        data += part
    return data.partition(b"\r\nHost: ")[2].partition(b"\r\n")[0].partition(b":")[0]


async def _lines() -> AsyncIterator[bytes]:
    stdin, data = trio.lowlevel.FdStream(0), b""
    async for part in stdin:
        *whole, data = (data + part).split(b"\n")
        for line in whole:
            yield line


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


async def main() -> None:
    """Serve until the input ends."""
    lines = _lines()
    setup = msgspec.json.decode(await anext(lines), type=Setup)
    endpoints = Endpoints(frozenset(name.encode("ascii") for name in setup.hanging))
    context = server_context(Issued(setup.certificate.encode("ascii"), setup.key.encode("ascii")))
    (plain,) = await trio.open_tcp_listeners(0, host=ADDRESS, backlog=1024)
    async with trio.open_nursery() as nursery:
        await nursery.start(
            trio.serve_listeners,
            endpoints.serve,
            [trio.SSLListener(plain, context, https_compatible=True)],
        )
        _say(str(plain.socket.getsockname()[1]))
        async for line in lines:
            {b"hang": endpoints.hang, b"answer": endpoints.answer}[line]()
            _say("ok")
        nursery.cancel_scope.cancel()


if __name__ == "__main__":
    trio.run(main)
