"""The WebSocket protocol on the game socket, in the order of the chapters of RFC 6455.

Valid frames work. An invalid frame ends the connection cleanly: the service sends a close frame
with the code of the fault and closes without a reset, and its log has no entry about it.
"""

from collections.abc import AsyncIterator, Iterator, MutableMapping
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

import pytest
import trio
from structlog.testing import capture_logs

from tests.http.frames_of_rfc6455 import (
    BEGIN,
    CONTINUED,
    LEAVING,
    RIGHT,
    WRONG,
    answer,
    ask,
    close,
)
from tests.http.raw import HANDSHAKE, Client, text_frame
from tests.http.sockets import CLOSE, PING, closed, send_all_or_nothing
from tests.journeys.partners import Partner
from tests.journeys.play import mint_sync
from tests.journeys.service import SharedService

_numbers = count(1)


@pytest.fixture(scope="module", params=["on", "off"], ids=["lane", "hypercorn"])
def service(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SharedService]:
    shared = SharedService(tmp_path_factory.mktemp("protocol"), lane=request.param)
    shared.start()
    yield shared
    shared.stop()


@pytest.fixture(scope="module")
def partner(service: SharedService) -> Partner:
    return service.partner()


async def heard(client: Client) -> tuple[int, bytes]:
    """Return the next frame that is not one of the service's own pings."""
    while (frame := await client.frame())[0] == PING:
        pass
    return frame


@asynccontextmanager
async def connect(
    service: SharedService, partner: Partner, *headers: bytes
) -> AsyncIterator[Client]:
    """Yield the connection of a player who has received `welcome`."""
    token = mint_sync(service.client, partner.test, f"player-{next(_numbers)}")
    host, _, port = service.client.base_url.removeprefix("http://").partition(":")
    offer = b"Sec-WebSocket-Protocol: pgs.game.v1, pgs.token.%s\r\n" % token.encode()
    async with Client(await trio.open_tcp_stream(host, int(port))) as client:
        shaken = await client.ask(
            HANDSHAKE % b"/game/socket"
            + offer
            + b"".join(line + b"\r\n" for line in headers)
            + b"\r\n"
        )
        assert shaken.status == 101
        assert "sec-websocket-extensions" not in shaken.headers
        opcode, text = await heard(client)
        assert opcode == 1
        assert text.startswith(b'{"type":"welcome"')
        yield client


async def ends_with(client: Client, frame: tuple[int, bytes]) -> None:
    """Check that the next frame is this close, and that the service then ends the connection.

    The client answers the close in between.
    """
    assert await heard(client) == frame
    await send_all_or_nothing(client, text_frame(frame[1][:2], opcode=CLOSE))
    assert await client.end() == b""
    assert not client.was_reset


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.parametrize("apart", [False, True], ids=["at once", "byte by byte"])
async def test_valid_frames_are_understood(
    service: SharedService, partner: Partner, name: str, apart: bool
) -> None:
    sent, expected = RIGHT[name]
    with capture_logs() as logs:
        async with connect(service, partner) as client:
            client.stream.setsockopt(trio.socket.IPPROTO_TCP, trio.socket.TCP_NODELAY, 1)
            for byte in (sent[i : i + 1] for i in range(min(len(sent), 400))) if apart else ():
                await client.send(byte)
            await client.send(sent[400:] if apart else sent)
            assert [await heard(client) for _ in expected] == expected
            await client.send(close(1000))
            await ends_with(client, closed(1000))
    assert complaints(logs) == []


@pytest.mark.parametrize("name", WRONG)
async def test_an_invalid_frame_ends_the_connection_cleanly_with_the_code_of_the_fault(
    service: SharedService, partner: Partner, name: str
) -> None:
    sent, code = WRONG[name]
    with capture_logs() as logs:
        async with connect(service, partner) as client:
            await send_all_or_nothing(client, sent)
            while (frame := await heard(client))[0] == 1:
                assert frame[1].startswith(b'{"type":"error"')
            assert frame == closed(code)
            await send_all_or_nothing(client, close(code))
            assert await client.end() == b""
            assert not client.was_reset
    assert complaints(logs) == []


@pytest.mark.parametrize("name", LEAVING)
async def test_a_player_who_closes_gets_the_same_code_back(
    service: SharedService, partner: Partner, name: str
) -> None:
    sent, echoed = LEAVING[name]
    with capture_logs() as logs:
        async with connect(service, partner) as client:
            await client.send(sent)
            assert await heard(client) == (CLOSE, echoed)
            assert await client.end() == b""
            assert not client.was_reset
    assert complaints(logs) == []


@pytest.mark.parametrize(
    "begun",
    [
        BEGIN + text_frame(b"\xf4\x90", final=False, opcode=CONTINUED),
        text_frame(b"\xf4\x90" + ask())[:12],
    ],
    ids=["message", "frame"],
)
async def test_invalid_text_is_refused_before_its_message_ends(
    service: SharedService, partner: Partner, begun: bytes
) -> None:
    async with connect(service, partner) as client:
        await client.send(begun)
        await ends_with(client, closed(1007))


async def test_compression_that_a_client_offers_is_not_agreed_to(
    service: SharedService, partner: Partner
) -> None:
    async with connect(
        service, partner, b"Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits"
    ) as client:
        await client.send(text_frame(ask()))
        assert await heard(client) == answer()
        await client.send(b"\xc1" + text_frame(ask())[1:])
        await ends_with(client, closed(1002))


def complaints(logs: list[MutableMapping[str, Any]]) -> list[MutableMapping[str, Any]]:
    """Return the log lines of a level above `info`."""
    return [entry for entry in logs if entry["log_level"] not in ("debug", "info")]
