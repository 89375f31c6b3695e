"""Which request heads go no further, over real sockets."""

import pytest

from pgs.http.asgi import Receive, Scope, Send
from pgs.http.heads import MAX_HEAD_BYTES, MAX_HEADERS, MAX_TARGET_BYTES, Fault, Head, check_head
from tests.http.raw import HANDSHAKE, Way, edge, error_of, http_app, ok, raw_request, serving

MALFORMED = {
    "length and coding": (raw_request("POST /x HTTP/1.1", "Content-Length: 5", "Transfer-Encoding: chunked") + b"0\r\n\r\n", 400),
    "coding in 1.0": (raw_request("POST /x HTTP/1.0", "Transfer-Encoding: chunked") + b"0\r\n\r\n", 400),
    "two lengths": (raw_request("POST /x HTTP/1.1", "Content-Length: 5", "Content-Length: 6") + b"12345", 400),
    "length with sign": (raw_request("POST /x HTTP/1.1", "Content-Length: +5") + b"12345", 400),
    "endless length": (raw_request("POST /x HTTP/1.1", "Content-Length: 99999999999999999") + b"12345", 400),
    "gzip": (raw_request("POST /x HTTP/1.1", "Transfer-Encoding: gzip, chunked") + b"0\r\n\r\n", 501),
    "coding twice": (raw_request("POST /x HTTP/1.1", "Transfer-Encoding: chunked", "Transfer-Encoding: chunked") + b"0\r\n\r\n", 501),
    "absolute form": (raw_request("GET http://h/partner/me HTTP/1.1"), 400),
    "connect": (raw_request("CONNECT h:443 HTTP/1.1"), 400),
    "asterisk": (raw_request("OPTIONS * HTTP/1.1"), 400),
    "empty path": (raw_request("GET ?x HTTP/1.1"), 400),
    "HTTP/1.2": (raw_request("GET /x HTTP/1.2"), 400),
    "HTTP/2.0": (raw_request("PRI * HTTP/2.0", host="") + b"SM\r\n\r\n", 400),
    "long method": (raw_request("A" * 3000 + " /x HTTP/1.1"), 400),
    "method with a slash": (raw_request("GE/T /x HTTP/1.1"), 400),
    "headers": (raw_request("GET /x HTTP/1.1", *(f"x-{n}: y" for n in range(MAX_HEADERS))), 431),
    "head": (raw_request("GET /x HTTP/1.1", "x: " + "y" * MAX_HEAD_BYTES), 431),
    "target": (raw_request("GET /" + "x" * MAX_TARGET_BYTES + " HTTP/1.1"), 414),
    "query": (raw_request("GET /?" + "x" * MAX_TARGET_BYTES + " HTTP/1.1"), 414),
    "no host": (raw_request("GET /x HTTP/1.1", host=""), 400),
    "two hosts": (raw_request("GET /x HTTP/1.1", "Host: h"), 400),
    "bad host": (raw_request("GET /x HTTP/1.1", host="Host: a b\r\n"), 400),
    "8-bit host": (raw_request("GET /x HTTP/1.1", host="Host: \xff\r\n"), 400),
    "8-bit path": (raw_request("GET /\xff HTTP/1.1"), 400),
    "control": (raw_request("GET /\x01 HTTP/1.1"), 400),
    "NUL in the path": (raw_request("GET /%00 HTTP/1.1"), 400),
}


@pytest.mark.parametrize(("raw", "status"), MALFORMED.values(), ids=MALFORMED.keys())
async def test_a_malformed_request_is_refused_and_its_connection_closed(way: Way, raw: bytes, status: int) -> None:
    seen: list[str] = []

    async def never(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope["path"])

    async with serving(way, edge(http_app(never))) as server, await server.client() as client:
        answer = await client.ask(raw + raw_request("GET /smuggled HTTP/1.1"))
        assert answer.status == status
        assert answer.headers["connection"].lower() == "close"
        if answer.body:  # The server's parser refuses some of them before the edge can, without a body.
            assert error_of(answer)
            assert answer.headers["x-request-id"] == "req_1"
        assert await client.end() == b""
        assert not client.was_reset
        assert seen == []


@pytest.mark.parametrize(
    "raw",
    [
        raw_request("GET /x HTTP/1.0", host=""),
        raw_request("GET /x HTTP/1.1", host="Host: [::1]:8000\r\n"),
        raw_request("GET /x HTTP/1.1", host="Host:\r\n"),
        raw_request("PROPPATCH /x HTTP/1.1"),
        raw_request("GET /a%2Fb?c=%00 HTTP/1.1"),
        raw_request("GET /x HTTP/1.1", *(f"x-{n}: y" for n in range(MAX_HEADERS - 1))),
        raw_request("GET /" + "x" * (MAX_TARGET_BYTES - 1) + " HTTP/1.1"),
    ],
)
async def test_an_unusual_but_sound_request_passes(way: Way, raw: bytes) -> None:
    async with serving(way, edge(ok)) as server, await server.client() as client:
        assert (await client.ask(raw)).status == 200


@pytest.mark.parametrize(
    "headers",
    [
        [(b"content-length", b"5"), (b"content-length", b"5")],
        [(b"content-length", b"5, 5")],
        [(b"content-length", b"")],
        [(b"transfer-encoding", b"chunked"), (b"transfer-encoding", b"chunked")],
        [(b"transfer-encoding", b"gzip")],
        [(b"host", b"h")],
        [(b"host", b"h/..")],
    ],
)
def test_the_edge_does_not_rely_on_the_servers_parser(headers: list[tuple[bytes, bytes]]) -> None:
    head = [(b"host", b"h"), *headers]
    scope = {"type": "http", "method": "POST", "http_version": "1.1", "path": "/", "raw_path": b"/", "query_string": b"", "headers": head}
    assert isinstance(check_head(scope), Fault)
    assert isinstance(check_head({**scope, "headers": [(b"host", b"h")]}), Head)
    others: list[dict[str, object]] = [
        {"raw_path": b"/\xff"},
        {"query_string": b"\x7f"},
        {"method": "G T"},
        {"method": ""},
        {"http_version": "3"},
        {"headers": []},
    ]
    for broken in others:
        assert isinstance(check_head({**scope, "headers": [(b"host", b"h")], **broken}), Fault)


async def test_a_malformed_websocket_handshake_is_refused_in_the_same_way(way: Way) -> None:
    async with serving(way, edge(ok)) as server, await server.client() as client:
        answer = await client.ask(HANDSHAKE % b"/partner/%%00" + b"\r\n")
        assert answer.status == 400
        assert error_of(answer)
        assert answer.headers["x-service-api-version"] == "1"
        await client.end()
