"""A server under abuse keeps serving others, and still stops when it is told to."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import trio

from tests.journeys.client import InternalClient
from tests.patience import PATIENCE_S
from tests.torture.client import Connection
from tests.torture.hostile import hostile_inputs
from tests.torture.server import Server

pytestmark = pytest.mark.torture

STALLED, NEVER_READING = 100, 20
STOP_S = 15
ROWS = 100
FEED = f"/partner/results?limit={ROWS}"
# Pages of the feed that each connection asks for, of 50 kB each. Linux buffers about 4 MB for a
# client that does not read.
ASKED = 150


@pytest.fixture(params=["on", "off"], ids=["lane", "hypercorn"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Server]:
    """A server whose plain requests go through the lane, or through hypercorn."""
    server = Server(tmp_path, PGS_LANE=request.param)
    yield server
    server.end()


async def _launch(server: Server, keys: dict[str, str], name: str) -> None:
    connection = Connection(server.base_url)
    body = {"playerId": name, "gameId": "tic-tac-toe"}
    status, _, answer = await connection.call("POST", "/partner/sessions", keys["testKey"], body)
    assert status == 200, answer
    seat: dict[str, object] = {"tierId": keys["tierId"], "stakeUsdCents": 100}
    seat |= {**body, "idempotencyKey": name}
    status, _, answer = await connection.call("POST", "/partner/matches", keys["testKey"], seat)
    assert status == 200, answer
    await connection.close()


async def _open(server: Server, *, receive_buffer: int | None = None) -> trio.SocketStream:
    parts = urlsplit(server.base_url)
    assert parts.port is not None
    sock = trio.socket.socket()
    if receive_buffer is not None:
        sock.setsockopt(trio.socket.SOL_SOCKET, trio.socket.SO_RCVBUF, receive_buffer)
    await sock.connect(("127.0.0.1", parts.port))
    return trio.SocketStream(sock)


async def _fill_feed(server: Server, key: str, tier_id: str) -> None:
    """Start many matches, so that pages of the feed are long and fill the kernel's buffers."""
    connection = Connection(server.base_url)
    for number in range(ROWS):
        body = {
            "playerId": f"p{number}",
            "gameId": "tic-tac-toe",
            "tierId": tier_id,
            "stakeUsdCents": 100,
        }
        body |= {"idempotencyKey": f"k{number}", "partnerRef": "r" * 128}
        status, _, answer = await connection.call("POST", "/partner/matches", key, body)
        assert status == 200, answer
    status, _, page = await connection.call("GET", FEED, key)
    assert (status, len(page["results"])) == (200, ROWS)
    await connection.close()


async def _ask_and_never_read(server: Server, key: bytes) -> list[trio.SocketStream]:
    """Return connections that send many requests and never read an answer."""
    ask = (
        b"GET "
        + FEED.encode()
        + b" HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer "
        + key
        + b"\r\n\r\n"
    )
    streams = [await _open(server, receive_buffer=4096) for _ in range(NEVER_READING)]
    for stream in streams:
        await stream.send_all(ask * ASKED)
    return streams


async def _stuck(server: Server) -> int:
    """Return how many connections the service has closed because its answers were not read."""
    internal = InternalClient(server.internal_url)
    _, metrics = await internal.get("/internal/metrics")
    await internal.aclose()
    found = re.search(rb'^pgs_events_total{event="send_timeout"} ([0-9.]+)$', metrics, re.MULTILINE)
    return int(float(found[1])) if found else 0


async def test_every_hostile_input_is_survived(server: Server) -> None:
    keys = server.seed(1)[0]
    server.start()
    inputs = hostile_inputs()
    assert len(inputs) >= 100
    for number, data in enumerate(inputs):
        stream = await _open(server)
        try:
            with trio.move_on_after(2):
                await stream.send_all(data)
            with trio.move_on_after(0.1):
                while await stream.receive_some(65536):
                    pass
        except (trio.BrokenResourceError, OSError):
            pass  # closing the connection early is an acceptable answer
        finally:
            await trio.aclose_forcefully(stream)
        assert server.running, f"input {number} ended the process: {data[:200]!r}"
    await _launch(server, keys, "after")
    code, seconds = await trio.to_thread.run_sync(server.stop)
    assert code == 0
    assert seconds < STOP_S


async def test_clients_that_stall_or_never_read_delay_neither_others_nor_the_stop(
    server: Server,
) -> None:
    keys = server.seed(1)[0]
    server.widen(keys["partnerId"], 100_000)
    server.start()
    await _fill_feed(server, keys["testKey"], keys["tierId"])
    key = keys["testKey"].encode()
    beginnings = [
        b"",
        b"GET /partner/me HT",
        b"GET /partner/me HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer " + key,
        b"POST /partner/sessions HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer "
        + key
        + b"\r\nContent-Length: 100\r\n\r\n{",
        b"POST /partner/sessions HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer "
        + key
        + b"\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n",
    ]
    streams = await _ask_and_never_read(server, key)
    with trio.fail_after(PATIENCE_S):
        # Wait until the service, another process, has closed each connection that blocked a write.
        while await _stuck(server) < NEVER_READING:  # noqa: ASYNC110  reads a file of the kernel
            await trio.sleep(0.2)
    for number in range(STALLED):
        stream = await _open(server)
        await stream.send_all(beginnings[number % len(beginnings)])
        streams.append(stream)
    streams += await _ask_and_never_read(server, key)
    await trio.sleep(2)  # by the stop, these connections block a write or are about to
    await _launch(server, keys, "meanwhile")
    internal = Connection(server.internal_url)
    status, _, answer = await internal.call("GET", "/internal/readyz", "")
    assert (status, answer) == (200, {"status": "ready"}), json.dumps(answer)
    await internal.close()
    code, seconds = await trio.to_thread.run_sync(server.stop)
    assert code == 0
    assert seconds < STOP_S
    for stream in streams:
        await trio.aclose_forcefully(stream)
