"""Which protocols a listener accepts beside plain HTTP/1.1, over real sockets."""

import msgspec
import pytest

from pgs.http.transport.asgi import Receive, Scope, Send
from tests.http.apps import ok, only
from tests.http.raw import HANDSHAKE, UNHURRIED, ServeApp, serving, text_frame
from tests.http.sockets import app_of, echo


async def test_http2_in_clear_text_is_not_accepted(serve_app: ServeApp) -> None:
    async with serving(serve_app, ok) as server:
        async with await server.client() as client:
            await client.send(
                b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"
            )
            assert (await client.end()).startswith(b"HTTP/1.1 ")
        async with await server.client() as client:
            answer = await client.get(
                "/",
                "Upgrade: h2c",
                "Connection: Upgrade, HTTP2-Settings",
                "HTTP2-Settings: AAMAAABkAAQAAP__",
            )
            assert (answer.status, answer.body) == (200, b"ok")


@pytest.mark.usefixtures("lane_serves_socket")
async def test_websocket_compression_is_never_agreed_to(serve_app: ServeApp) -> None:
    app = app_of(echo, subprotocol=None)
    async with serving(serve_app, app) as server, await server.client() as client:
        answer = await client.ask(
            HANDSHAKE % b"/ws" + b"Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n"
        )
        assert answer.status == 101
        assert "sec-websocket-extensions" not in answer.headers


async def test_an_oversized_websocket_message_reaches_the_application_truncated(
    serve_app: ServeApp,
) -> None:
    sizes: list[int] = []

    async def measure(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "websocket.accept"})
        while (message := await receive())["type"] != "websocket.disconnect":
            sizes.append(len(message.get("text") or ""))

    limits = msgspec.structs.replace(
        UNHURRIED, websocket_message_chars=100, websocket_flood_chars=1000
    )
    async with (
        serving(serve_app, only("/ws", measure), limits) as server,
        await server.client() as client,
    ):
        await client.ask(HANDSHAKE % b"/ws" + b"\r\n")
        for size in (100, 500, 7):
            await client.send(
                text_frame(b"x" * (size - 1), final=False) + text_frame(b"y", opcode=0)
            )
        await client.send(
            text_frame(b"x" * 600, final=False) + text_frame(b"x" * 600, final=False, opcode=0)
        )
        assert (await client.frame())[1] == (1009).to_bytes(2)
        await client.end()
    assert sizes == [
        0,
        100,
        101,
        7,
        101,
    ]  # The first event is the connect. The last message never ended.
