"""The first line of every response, over real sockets."""

from http import HTTPStatus

import pytest

from pgs.http.transport.asgi import Receive, Scope, Send
from tests.http.apps import edge, http_app, ok, reply
from tests.http.raw import HANDSHAKE, Client, ServeApp, serving
from tests.http.raw import raw_request as request
from tests.http.sockets import app_of, echo

CLOSE = "Connection: close"


async def _first_line(client: Client, raw: bytes) -> str:
    await client.send(raw)
    return (await client.end()).partition(b"\r\n")[0].decode()


@pytest.mark.parametrize("status", [200, 204, 304, 404, 421, 429, 500, 503])
async def test_a_status_line_has_the_phrase_of_its_status(serve_app: ServeApp, status: int) -> None:
    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await reply(send, status, b"")

    async with (
        serving(serve_app, edge(http_app(answer))) as server,
        await server.client() as client,
    ):
        line = await _first_line(client, request("GET / HTTP/1.1", CLOSE))
    assert line == f"HTTP/1.1 {status} {HTTPStatus(status).phrase}"


async def test_a_status_without_a_name_has_a_phrase_too(serve_app: ServeApp) -> None:
    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await reply(send, 499, b"")

    async with (
        serving(serve_app, edge(http_app(answer))) as server,
        await server.client() as client,
    ):
        line = await _first_line(client, request("GET / HTTP/1.1", CLOSE))
    assert line == "HTTP/1.1 499 Unassigned"


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        (b"nonsense\r\n\r\n", "HTTP/1.1 400 Bad Request"),
        (request("GET / HTTP/2.0"), "HTTP/1.1 400 Bad Request"),
        (HANDSHAKE % b"/x" + b"Content-Length: 3\r\n\r\nabc", "HTTP/1.1 200 OK"),
        (
            request("POST / HTTP/1.1", "Expect: 100-continue", "Content-Length: 0"),
            "HTTP/1.1 100 Continue",
        ),
    ],
    ids=["no head", "another protocol", "a spoilt handshake", "continue"],
)
async def test_an_answer_of_the_parser_has_a_phrase(
    serve_app: ServeApp, raw: bytes, line: str
) -> None:
    async with serving(serve_app, edge(ok)) as server, await server.client() as client:
        await client.send(raw)
        await client.stream.send_eof()
        shown = (await client.end()).partition(b"\r\n")[0].decode()
    assert shown == line


@pytest.mark.usefixtures("lane_serves_socket")
async def test_the_switch_to_a_websocket_has_a_phrase(serve_app: ServeApp) -> None:
    app = app_of(echo, subprotocol=None)
    async with serving(serve_app, app) as server, await server.client() as client:
        await client.send(HANDSHAKE % b"/ws" + b"\r\n")
        shown = (await client.until(b"\r\n")).decode().rstrip()
    assert shown == "HTTP/1.1 101 Switching Protocols"
