"""The partners' endpoints of scripts/bench_nudges.py: one TLS server in its own process.

scripts/bench_nudges.py starts it. The first line of its input holds a certificate with its key, and
the host names that can hang. It prints its port. Then it takes three orders and answers `ok` to
each:

- `hang`: from now on, calls for the names that can hang are read and never answered;
- `answer`: the program closes the connections that hang, and all names answer;
- `keep`: from now on a connection stays open after an answer. Until then each is closed.

It ends when its input ends.
"""

import sys
from collections.abc import AsyncIterator

import msgspec
import trio

from pgs.demo.certificates import Issued, server_context
from pgs.demo.loopback import ADDRESS

READ_S = 30.0  # seconds for a call; longer than any try, so that the caller always gives up first


class Setup(msgspec.Struct, frozen=True):
    """The first line of input. `hanging`: the host names that can hang."""

    certificate: str
    key: str
    hanging: list[str]


class Endpoints:
    """All endpoints. Those in `hanging` answer like the others until `hang` is called."""

    def __init__(self, hanging: frozenset[bytes]) -> None:
        self._hanging = hanging
        self._release = trio.Event()
        self._release.set()
        self._keeps = False

    def keep(self) -> None:
        """Leave each connection open after an answer."""
        self._keeps = True

    def hang(self) -> None:
        """Stop answering calls for the names that can hang."""
        self._release = trio.Event()

    def answer(self) -> None:
        """Close the connections that hang, and answer calls for every name."""
        self._release.set()

    async def serve(self, stream: trio.SSLStream[trio.SocketStream]) -> None:
        """Read calls; answer `full` or `resumed`, which says how the TLS handshake went.

        Each further call of a connection that stays open is answered `kept`. A call for a host that
        hangs is not answered.
        """
        said = None
        try:
            while said is None or self._keeps:
                with trio.fail_after(READ_S):
                    host = await _read(stream)
                if host in self._hanging and not self._release.is_set():
                    await self._release.wait()
                    return
                if said is None:
                    said = b"resumed" if stream.session_reused else b"full"
                else:
                    said = b"kept"
                head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n" % len(said)
                end = b"\r\n" if self._keeps else b"Connection: close\r\n\r\n"
                await stream.send_all(head + end + said)
        except (trio.BrokenResourceError, trio.ClosedResourceError, trio.TooSlowError):
            pass  # The caller has given up.
        finally:
            await trio.aclose_forcefully(stream)


async def _read(stream: trio.abc.Stream) -> bytes:
    """Read a whole call; return the host name that it is for."""
    data = b""
    while not data.endswith(b"}"):  # the last byte of a nudge's body, and of no header
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
            {b"hang": endpoints.hang, b"answer": endpoints.answer, b"keep": endpoints.keep}[line]()
            _say("ok")
        nursery.cancel_scope.cancel()


if __name__ == "__main__":
    trio.run(main)
