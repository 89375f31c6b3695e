"""A server that strangers abuse goes on serving, and stops when it is told to."""

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import trio

from tests.torture.client import Connection
from tests.torture.hostile import hostile_inputs
from tests.torture.server import Server

pytestmark = pytest.mark.torture

STALLED, NEVER_READING = 100, 20
STOP_S = 15


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path)
    yield server
    server.end()


async def _launch(server: Server, keys: dict[str, str], name: str) -> None:
    connection = Connection(server.base_url)
    body = {"playerId": name, "gameId": "tic-tac-toe"}
    status, _, answer = await connection.call("POST", "/partner/sessions", keys["testKey"], body)
    assert status == 200, answer
    body |= {"tierId": keys["tierId"], "stakeUsdCents": 100, "idempotencyKey": name}  # type: ignore[dict-item]
    status, _, answer = await connection.call("POST", "/partner/matches", keys["testKey"], body)
    assert status == 200, answer
    await connection.close()


async def _open(server: Server) -> trio.SocketStream:
    parts = urlsplit(server.base_url)
    assert parts.port is not None
    return await trio.open_tcp_stream("127.0.0.1", parts.port)


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
            pass  # refused in the middle: as good an answer as any
        finally:
            await trio.aclose_forcefully(stream)
        assert server.running, f"input {number} ended the process: {data[:200]!r}"
    await _launch(server, keys, "after")
    code, seconds = await trio.to_thread.run_sync(server.stop)
    assert code == 0
    assert seconds < STOP_S


async def test_stalled_and_never_reading_clients_hold_up_neither_others_nor_the_stop(server: Server) -> None:
    keys = server.seed(1)[0]
    server.start()
    key = keys["testKey"].encode()
    beginnings = [
        b"",
        b"GET /partner/me HT",
        b"GET /partner/me HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer " + key,
        b"POST /partner/sessions HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer " + key + b"\r\nContent-Length: 100\r\n\r\n{",
        b"POST /partner/sessions HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer " + key + b"\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n",
    ]
    streams = []
    for number in range(STALLED):
        stream = await _open(server)
        await stream.send_all(beginnings[number % len(beginnings)])
        streams.append(stream)
    poll = b"GET /partner/tiers?gameId=tic-tac-toe HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer " + key + b"\r\n\r\n"
    for _ in range(NEVER_READING):
        stream = await _open(server)
        with trio.move_on_after(0.5):
            while True:  # ask on and on, and take no answer: sooner or later nobody can write any more
                await stream.send_all(poll * 100)
        streams.append(stream)
    await trio.sleep(1.5)  # the partner's bucket refills
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
