"""The gauges of open sockets and tables, over real sockets that end in every way."""

import re
import socket as sockets
import struct

import trio

from tests.journeys.places import Place
from tests.journeys.play import match, mint, socket_of
from tests.journeys.service import Service, in_process
from tests.patience import PATIENCE_S

GAUGES = ("pgs_open_sockets", "pgs_players_here", "pgs_open_tables")


async def scraped(service: Service) -> tuple[int, ...]:
    """Return the numbers of open sockets, players and tables."""
    status, text = await service.internal.get("/internal/metrics")
    assert status == 200
    found = dict(re.findall(r"^(pgs_\w+) (\S+)$", text.decode(), re.MULTILINE))
    return tuple(int(float(found[name])) for name in GAUGES)


async def until_gauges_show(service: Service, *wanted: int) -> None:
    """Return once the gauges show these numbers."""
    with trio.fail_after(PATIENCE_S):
        while True:
            if await scraped(service) == wanted:
                return
            await trio.sleep(0.01)


async def open_raw_socket(base_url: str, token: str) -> trio.SocketStream:
    """Open a game socket that the test itself can end in any way."""
    host, _, port = base_url.removeprefix("http://").partition(":")
    stream = await trio.open_tcp_stream(host, int(port))
    await stream.send_all(
        f"GET /game/socket HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        f"Authorization: Bearer {token}\r\n\r\n".encode()
    )
    assert (await stream.receive_some()).startswith(b"HTTP/1.1 101")
    return stream


async def test_sockets_are_counted_however_they_end(place: Place) -> None:
    async with in_process(place) as service:
        partner = await service.partner()
        ann, bob = [await mint(service.public, partner.test, player) for player in ("ann", "bob")]
        await until_gauges_show(service, 0, 0, 0)
        async with socket_of(service.public.next_url, ann) as older:
            stream = await open_raw_socket(service.public.next_url, bob)
            await until_gauges_show(service, 2, 2, 0)
            async with socket_of(service.public.next_url, ann):
                assert await older.closed() == 4409
                await until_gauges_show(service, 2, 2, 0)
                stream.setsockopt(
                    sockets.SOL_SOCKET, sockets.SO_LINGER, struct.pack("ii", 1, 0)
                )  # the close is a reset
                await trio.aclose_forcefully(stream)
                await until_gauges_show(service, 1, 1, 0)
            await until_gauges_show(service, 0, 0, 0)
        async with socket_of(service.public.next_url, ann) as abuser:
            await abuser.socket.send_message("no json")
            assert await abuser.closed() == 4400
        await until_gauges_show(service, 0, 0, 0)


async def test_a_table_is_counted_from_its_first_player_to_its_end(place: Place) -> None:
    async with in_process(place) as service:
        partner = await service.partner()
        ann, bob = [await mint(service.public, partner.test, player) for player in ("ann", "bob")]
        match_id = await match(service.public, partner.test, "ann", "bob")
        await until_gauges_show(service, 0, 0, 0)
        async with socket_of(service.public.next_url, ann) as first:
            await until_gauges_show(service, 1, 1, 0)
            await first.ask("join", matchId=match_id)
            await until_gauges_show(service, 1, 1, 1)
        async with socket_of(service.public.next_url, bob) as last:
            await until_gauges_show(service, 1, 1, 1)
            await last.ask("resign", matchId=match_id)
            await last.hear_until("ended")
            await until_gauges_show(service, 1, 1, 0)
        await until_gauges_show(service, 0, 0, 0)
