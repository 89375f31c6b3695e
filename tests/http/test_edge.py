"""The edge: its checks on every request and its stamps on every response, over real sockets."""

from collections import Counter
from functools import partial

import pytest
import quart
import trio
from quart_trio import QuartTrio
from structlog.testing import capture_logs

from pgs.http.pages import make_pages
from pgs.http.transport.asgi import Receive, Scope, Send
from pgs.http.transport.edge import LOGGED_PATH_CHARS
from pgs.http.transport.heads import stamp
from tests.http.raw import (
    HANDSHAKE,
    PATIENCE_S,
    ServeApp,
    edge,
    error_of,
    http_app,
    ok,
    raw_request,
    read_body,
    reply,
    serving,
    text_frame,
)


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    body = await read_body(receive)
    await reply(send, 200, body)


def count_in(events: Counter[str], name: str) -> None:
    """Count an event. `partial(count_in, counter)` is an `on_event`."""
    events[name] += 1


# What responses carry


@pytest.mark.parametrize(
    ("path", "stamped"),
    [
        ("/partner", True),
        ("/partner/", True),
        ("/partner/me", True),
        ("/%70artner/me", True),
        ("/embed", True),
        ("/embed/p", True),
        ("/partners", False),
        ("/embedded", False),
        ("/game/session", False),
        ("/", False),
        ("//partner/me", False),
        ("/docs/changelog.md", False),
    ],
)
async def test_only_answers_under_partner_and_embed_carry_the_version(
    serve_app: ServeApp, path: str, stamped: bool
) -> None:
    async with serving(serve_app, edge(ok)) as server, await server.client() as client:
        answer = await client.get(path)
        assert answer.headers.get("x-service-api-version") == ("1" if stamped else None)
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_the_applications_version_is_kept_where_one_belongs_and_dropped_elsewhere() -> None:
    own = [
        (b"X-Service-Api-Version", b"7"),
        (b"X-Request-Id", b"theirs"),
        (b"Cache-Control", b"max-age=1"),
    ]
    partner = stamp(own, path="/partner/me", request_id="req_1", current_version=1)
    game = stamp(own, path="/game/session", request_id="req_1", current_version=1)
    assert partner.count((b"x-service-api-version", b"7")) == 1
    assert not [name for name, _ in game if name == b"x-service-api-version"]
    assert (b"cache-control", b"max-age=1") in partner
    assert (b"cache-control", b"no-store") not in partner
    for headers in (partner, game):
        assert [value for name, value in headers if name == b"x-request-id"] == [b"req_1"]


async def test_application_and_client_get_the_same_id_of_ours_for_a_request(
    serve_app: ServeApp,
) -> None:
    async def tell(scope: Scope, receive: Receive, send: Send) -> None:
        await reply(send, 200, scope["state"]["request_id"].encode())

    async with serving(serve_app, edge(http_app(tell))) as server, await server.client() as client:
        for expected in ("req_1", "req_2"):
            answer = await client.get("/partner/x", "X-Request-Id: theirs")
            assert answer.headers["x-request-id"] == expected
            assert answer.body == expected.encode()
            assert answer.headers["cache-control"] == "no-store"


async def test_private_request_headers_from_outside_are_dropped(serve_app: ServeApp) -> None:
    async def tell(scope: Scope, receive: Receive, send: Send) -> None:
        await reply(send, 200, b",".join(name for name, _ in scope["headers"]))

    async with serving(serve_app, edge(http_app(tell))) as server, await server.client() as client:
        answer = await client.get("/x", "X-Pgs-Partner: p", "x-other: y", "X-PGS-: z")
        assert answer.body == b"host,x-other"


# Bodies


async def test_a_body_whose_announced_length_is_too_long_is_refused_unread(
    serve_app: ServeApp,
) -> None:
    async with (
        serving(serve_app, edge(http_app(echo), body_limit=lambda path: 10)) as server,
        await server.client() as client,
    ):
        answer = await client.ask(raw_request("POST /partner/x HTTP/1.1", "Content-Length: 11"))
        assert answer.status == 413
        assert error_of(answer)
        assert (answer.headers["connection"], answer.headers["x-service-api-version"]) == (
            "close",
            "1",
        )
        await client.end()


async def test_a_body_that_grows_too_long_is_refused_whatever_the_application_does(
    serve_app: ServeApp,
) -> None:
    async def catches_all(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await echo(scope, receive, send)
        except Exception:
            await reply(send, 500, b"caught")

    pages = QuartTrio("pgs.http", static_folder=None)

    @pages.post("/x")
    async def _reads() -> str:
        return str(len(await quart.request.get_data()))

    for app in (http_app(echo), http_app(catches_all), pages):
        events: Counter[str] = Counter()
        outer = edge(app, body_limit=lambda path: 10, on_event=partial(count_in, events))
        async with serving(serve_app, outer) as server, await server.client() as client:
            answer = await client.ask(
                raw_request("POST /x HTTP/1.1", "Transfer-Encoding: chunked")
                + b"6\r\n123456\r\n6\r\n123456\r\n"
            )
            assert (answer.status, answer.headers["connection"]) == (413, "close")
            assert error_of(answer)
            await client.end()
        assert events == {"body_refused": 1}


async def test_a_body_of_exactly_the_limit_passes_and_each_path_has_its_limit(
    serve_app: ServeApp,
) -> None:
    app = edge(http_app(echo), body_limit=lambda path: 10 if path == "/short" else 1_000_000)
    async with serving(serve_app, app) as server, await server.client() as client:
        assert (
            await client.ask(raw_request("POST /short HTTP/1.1", "Content-Length: 10") + b"x" * 10)
        ).body == b"x" * 10
        assert (
            await client.ask(
                raw_request("POST /long HTTP/1.1", "Content-Length: 1000000") + b"x" * 1_000_000
            )
        ).status == 200


async def test_a_large_body_that_is_refused_does_not_reset_its_answer(serve_app: ServeApp) -> None:
    async with serving(serve_app, edge(http_app(echo))) as server, await server.client() as client:
        answer = await client.ask(
            raw_request("POST /x HTTP/1.1", "Content-Length: 300000") + b"x" * 300_000
        )
        assert answer.status == 413
        await client.end()
        assert not client.was_reset


async def test_a_body_that_drips_is_answered_with_408(serve_app: ServeApp) -> None:
    async with (
        serving(serve_app, edge(http_app(echo), body_s=0.3)) as server,
        await server.client() as client,
    ):
        await client.send(raw_request("POST /partner/x HTTP/1.1", "Content-Length: 1000"))
        async with trio.open_nursery() as nursery:

            async def drip() -> None:
                while True:
                    await trio.sleep(0.05)
                    await client.send(b"x")

            nursery.start_soon(drip)
            answer = await client.answer()
            nursery.cancel_scope.cancel()
        assert answer.status == 408
        assert error_of(answer)
        assert answer.headers["x-service-api-version"] == "1"
        await client.end()


async def test_a_connection_outlives_an_answer_that_came_before_the_body(
    serve_app: ServeApp,
) -> None:
    async with serving(serve_app, edge(ok)) as server, await server.client() as client:
        for _ in range(3):
            await client.send(raw_request("POST /x HTTP/1.1", "Content-Length: 5"))
            assert (await client.answer()).status == 200
            await client.send(b"12345")
        assert (await client.get("/x")).status == 200


# Failures inside


async def test_a_crash_is_a_500_without_a_reason_and_one_entry_in_the_log(
    serve_app: ServeApp,
) -> None:
    events: Counter[str] = Counter()

    async def broken(scope: Scope, receive: Receive, send: Send) -> None:
        async with trio.open_nursery():
            raise ValueError("the reason inside")

    with capture_logs() as logs:
        app = edge(http_app(broken), on_event=partial(count_in, events))
        async with serving(serve_app, app) as server, await server.client() as client:
            answer = await client.get("/partner/x")
    assert answer.status == 500
    assert "inside" not in error_of(answer)["error"]
    assert (answer.headers["x-request-id"], answer.headers["x-service-api-version"]) == (
        "req_1",
        "1",
    )
    [entry] = [entry for entry in logs if entry["event"] == "crash"]
    assert entry["request_id"] == "req_1"
    assert isinstance(entry["exc_info"], ValueError)
    assert events == {"crash": 1}


async def test_an_application_that_answers_nothing_is_a_crash(serve_app: ServeApp) -> None:
    async def mute(scope: Scope, receive: Receive, send: Send) -> None: ...

    async with serving(serve_app, edge(http_app(mute))) as server, await server.client() as client:
        assert (await client.get("/x")).status == 500


async def test_a_crash_within_an_answer_ends_the_connection(serve_app: ServeApp) -> None:
    async def halfway(scope: Scope, receive: Receive, send: Send) -> None:
        await send(
            {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"10")]}
        )
        await send({"type": "http.response.body", "body": b"12345", "more_body": True})
        raise ValueError

    async with (
        serving(serve_app, edge(http_app(halfway))) as server,
        await server.client() as client,
    ):
        await client.send(raw_request("GET /streamed HTTP/1.1"))
        assert (await client.end()).endswith(b"\r\n\r\n12345")


async def test_a_client_that_leaves_is_no_crash(serve_app: ServeApp) -> None:
    left = trio.Event()

    async def waits(scope: Scope, receive: Receive, send: Send) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        left.set()

    with capture_logs() as logs:
        async with serving(serve_app, edge(http_app(waits))) as server:
            async with await server.client() as client:
                await client.send(raw_request("GET /x HTTP/1.1"))
                await trio.sleep(0.05)
            with trio.fail_after(PATIENCE_S):
                await left.wait()
    assert [(entry["event"], entry["status"]) for entry in logs] == [("request", 0)]


async def test_a_page_handler_that_fails_is_a_crash_too(serve_app: ServeApp) -> None:
    pages = make_pages()

    @pages.get("/broken")
    async def _broken() -> str:
        raise ValueError

    with capture_logs() as logs:
        async with serving(serve_app, edge(pages)) as server, await server.client() as client:
            assert error_of(await client.get("/broken"))
    assert [entry["event"] for entry in logs] == ["crash", "request"]


# WebSockets


async def test_a_websocket_carries_its_request_id_and_fails_with_1011(serve_app: ServeApp) -> None:
    async def fails(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "websocket.accept"})
        while (await receive())["type"] != "websocket.receive":
            pass
        raise ValueError

    async with serving(serve_app, edge(http_app(fails))) as server, await server.client() as client:
        answer = await client.ask(HANDSHAKE % b"/game/socket" + b"\r\n")
        assert (answer.status, answer.headers["x-request-id"]) == (101, "req_1")
        assert "x-service-api-version" not in answer.headers
        await client.send(text_frame(b"x"))
        assert await client.frame() == (8, (1011).to_bytes(2))


async def test_a_websocket_that_is_not_accepted_gets_an_ordinary_answer(
    serve_app: ServeApp,
) -> None:
    async def refuses(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/broken":
            raise ValueError
        if scope["path"] == "/denied":
            await send(
                {
                    "type": "websocket.http.response.start",
                    "status": 401,
                    "headers": [(b"content-type", b"application/json")],
                }
            )
            await send({"type": "websocket.http.response.body", "body": b'{"error":"no"}'})
        else:
            await send({"type": "websocket.close"})

    async with serving(serve_app, edge(http_app(refuses))) as server:
        for path, status in ((b"/broken", 500), (b"/denied", 401), (b"/closed", 403)):
            async with await server.client() as client:
                answer = await client.ask(HANDSHAKE % path + b"\r\n")
                assert answer.status == status
                assert error_of(answer)
                assert answer.headers["x-request-id"].startswith("req_")


# The log


async def test_a_request_is_one_line_in_the_access_log_without_its_query(
    serve_app: ServeApp,
) -> None:
    with capture_logs() as logs:
        async with serving(serve_app, edge(ok)) as server, await server.client() as client:
            await client.get("/" + "x" * 1000 + "?token=secret", "Authorization: Bearer secret")
    [line] = logs
    duration = line.pop("duration_ms")
    assert isinstance(duration, float)
    path = "/" + "x" * (LOGGED_PATH_CHARS - 1)
    assert line == {
        "event": "request",
        "log_level": "info",
        "request_id": "req_1",
        "method": "GET",
        "path": path,
        "status": 200,
    }


@pytest.mark.parametrize(
    "secret",
    [
        "pgs_test_" + "A" * 46,
        "pgs_live_" + "0" * 46,
        "pgs1.abc.kid.payload.mac",
        "pgc1.kid.payload.mac",
        "whsec_abc",
    ],
)
async def test_a_credential_in_a_path_is_not_kept_by_the_access_log(
    serve_app: ServeApp, secret: str
) -> None:
    with capture_logs() as logs:
        async with serving(serve_app, edge(ok)) as server, await server.client() as client:
            await client.get(f"/partner/seats/{secret}/x")
    [line] = logs
    assert secret not in str(line)
    assert line["path"].startswith("/partner/seats/")
    assert line["path"].endswith("[hidden]/x")
