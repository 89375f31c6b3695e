"""Which request heads are refused, over real sockets."""

from collections import Counter

import pytest

from pgs.http.transport.asgi import Receive, Scope, Send
from pgs.http.transport.heads import (
    MAX_HEAD_BYTES,
    MAX_HEADERS,
    MAX_TARGET_BYTES,
    Fault,
    Head,
    check_head,
)
from tests.http.apps import edge, http_app, ok, read_body
from tests.http.raw import HANDSHAKE, ServeApp, error_of, raw_request, serving

MALFORMED = {
    "length and coding": (
        raw_request("POST /x HTTP/1.1", "Content-Length: 5", "Transfer-Encoding: chunked")
        + b"0\r\n\r\n",
        400,
    ),
    "coding in 1.0": (
        raw_request("POST /x HTTP/1.0", "Transfer-Encoding: chunked") + b"0\r\n\r\n",
        400,
    ),
    "two lengths": (
        raw_request("POST /x HTTP/1.1", "Content-Length: 5", "Content-Length: 6") + b"12345",
        400,
    ),
    "length with sign": (raw_request("POST /x HTTP/1.1", "Content-Length: +5") + b"12345", 400),
    "endless length": (
        raw_request("POST /x HTTP/1.1", "Content-Length: 99999999999999999") + b"12345",
        400,
    ),
    "gzip": (
        raw_request("POST /x HTTP/1.1", "Transfer-Encoding: gzip, chunked") + b"0\r\n\r\n",
        400,
    ),
    "coding twice": (
        raw_request("POST /x HTTP/1.1", "Transfer-Encoding: chunked", "Transfer-Encoding: chunked")
        + b"0\r\n\r\n",
        400,
    ),
    "another scheme": (raw_request("GET ftp://h/partner/me HTTP/1.1"), 400),
    "no host in an absolute target": (raw_request("GET http:///partner/me HTTP/1.1"), 400),
    "connect": (raw_request("CONNECT h:443 HTTP/1.1"), 400),
    "connect to a path": (raw_request("CONNECT /partner/me HTTP/1.1"), 400),
    "asterisk": (raw_request("OPTIONS * HTTP/1.1"), 400),
    "empty path": (raw_request("GET ?x HTTP/1.1"), 400),
    "HTTP/1.2": (raw_request("GET /x HTTP/1.2"), 400),
    "HTTP/2.0": (raw_request("PRI * HTTP/2.0", host="") + b"SM\r\n\r\n", 400),
    "long method": (raw_request("A" * 3000 + " /x HTTP/1.1"), 400),
    "method with a slash": (raw_request("GE/T /x HTTP/1.1"), 400),
    "small letters": (raw_request("get /x HTTP/1.1"), 400),
    "a small letter": (raw_request("PoST /x HTTP/1.1", "Content-Length: 1") + b"1", 400),
    "no HTTP": (b"nonsense\r\n\r\n", 400),
    "a header without a colon": (raw_request("GET /x HTTP/1.1", "nonsense"), 400),
    "an endless head": (raw_request("GET /x HTTP/1.1", "x: " + "y" * 40_000), 431),
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
}


@pytest.mark.parametrize(("raw", "status"), MALFORMED.values(), ids=MALFORMED.keys())
async def test_a_malformed_request_is_refused_and_its_connection_closed(
    serve_app: ServeApp, raw: bytes, status: int
) -> None:
    seen: list[str] = []

    async def never(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope["path"])

    async with serving(serve_app, edge(http_app(never))) as server, await server.client() as client:
        answer = await client.ask(raw + raw_request("GET /smuggled HTTP/1.1"))
        assert answer.status == status
        assert answer.headers["connection"].lower() == "close"
        assert error_of(answer)
        assert answer.headers["x-request-id"] == "req_1"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert await client.end() == b""
        assert not client.was_reset
        assert seen == []


@pytest.mark.parametrize(
    "host", ["", "Host: h\r\nHost: h\r\n", "Host: a b\r\n", "Host: h/..\r\n", "Host: a,b\r\n"]
)
async def test_a_refusal_for_its_host_says_so(serve_app: ServeApp, host: str) -> None:
    async with serving(serve_app, edge(ok)) as server, await server.client() as client:
        answer = await client.ask(raw_request("GET /x HTTP/1.1", host=host))
        assert answer.status == 400
        said = error_of(answer)["error"]
        assert "Host header" in said
        # A request with one header that names no host is not said to lack the header.
        assert ("no Host header or several" in said) == (host.count("Host") != 1)


@pytest.mark.parametrize(
    "raw",
    [
        raw_request("GET /x HTTP/1.0", host=""),
        raw_request("GET /x HTTP/1.1", host="Host: [::1]:8000\r\n"),
        raw_request("GET /x HTTP/1.1", host="Host:\r\n"),
        raw_request("PROPPATCH /x HTTP/1.1"),
        raw_request("GET /a%2Fb?c=%00 HTTP/1.1"),
        raw_request("GET /%00 HTTP/1.1"),
        raw_request("GET /x HTTP/1.1", *(f"x-{n}: y" for n in range(MAX_HEADERS - 1))),
        raw_request("GET /" + "x" * (MAX_TARGET_BYTES - 1) + " HTTP/1.1"),
    ],
)
async def test_an_unusual_but_valid_request_passes(serve_app: ServeApp, raw: bytes) -> None:
    async with serving(serve_app, edge(ok)) as server, await server.client() as client:
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
    scope = {
        "type": "http",
        "method": "POST",
        "http_version": "1.1",
        "path": "/",
        "raw_path": b"/",
        "query_string": b"",
        "headers": head,
    }
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


@pytest.mark.parametrize("header", ["Transfer-Encoding: gzip, chunked", "Content-Length: x", "bad"])
@pytest.mark.parametrize(
    ("path", "version"),
    [("/partner/me?a=%20", "1"), ("/game/session", None), ("/%70artner/me", "1")],
)
async def test_a_refusal_of_the_parser_is_stamped_and_counted_like_other_answers(
    serve_app: ServeApp, header: str, path: str, version: str | None
) -> None:
    events: Counter[str] = Counter()
    app = edge(ok, on_event=lambda name: events.update([name]))
    async with (
        serving(serve_app, app) as server,
        await server.client() as client,
        await server.client() as other,
    ):
        assert (await other.get("/x")).headers["x-request-id"] == "req_1"
        answer = await client.ask(raw_request(f"POST {path} HTTP/1.1", header))
        assert (answer.status, answer.headers["x-request-id"]) == (400, "req_2")
        assert answer.headers.get("x-service-api-version") == version
        assert events == {"refused": 1}
        assert (await other.get("/x")).headers["x-request-id"] == "req_3"


async def test_a_refused_head_request_is_answered_without_a_body(serve_app: ServeApp) -> None:
    async with serving(serve_app, edge(ok)) as server, await server.client() as client:
        await client.send(raw_request("HEAD /x HTTP/1.1", "Transfer-Encoding: gzip, chunked"))
        answer = await client.answer(to_head=True)
        assert (answer.status, answer.headers["x-request-id"]) == (400, "req_1")
        assert await client.end() == b""


async def test_a_body_that_is_not_http_is_refused_while_the_application_waits_for_it(
    serve_app: ServeApp,
) -> None:
    async def reads(scope: Scope, receive: Receive, send: Send) -> None:
        await read_body(receive)

    async with serving(serve_app, edge(http_app(reads))) as server, await server.client() as client:
        answer = await client.ask(
            raw_request("POST /partner/x HTTP/1.1", "Transfer-Encoding: chunked") + b"nonsense\r\n"
        )
        assert answer.status == 400
        assert error_of(answer)
        assert answer.headers["x-service-api-version"] == "1"
        await client.end()


@pytest.mark.parametrize(
    "spoilt", ["Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="]
)
async def test_a_broken_handshake_is_refused_in_the_error_shape(
    serve_app: ServeApp, spoilt: str
) -> None:
    raw = HANDSHAKE % b"/partner/x" + b"\r\n"
    async with serving(serve_app, edge(ok)) as server, await server.client() as client:
        answer = await client.ask(raw.replace(spoilt.encode(), b"X-Nothing: 1"))
        assert answer.status == 400
        assert error_of(answer)
        assert (answer.headers["x-request-id"], answer.headers["x-service-api-version"]) == (
            "req_1",
            "1",
        )
        assert await client.end() == b""


async def test_a_malformed_websocket_handshake_is_refused_in_the_same_way(
    serve_app: ServeApp,
) -> None:
    async with serving(serve_app, edge(ok)) as server, await server.client() as client:
        answer = await client.ask(HANDSHAKE % b"/partner/\x01" + b"\r\n")
        assert answer.status == 400
        assert error_of(answer)
        assert answer.headers["x-service-api-version"] == "1"
        await client.end()
