"""What the edge answers and logs when an application crashes, leaves or upgrades."""

from collections import Counter
from functools import partial

import pytest
import trio
from structlog.testing import capture_logs

from pgs.http.pages import make_pages
from pgs.http.transport.accepted_socket import AcceptedSocket
from pgs.http.transport.asgi import Receive, Scope, Send
from pgs.http.transport.edge import LOGGED_PATH_CHARS
from pgs.http.transport.sockets import OpenSockets, refuse_handshake, serve_socket
from tests.http.apps import edge, http_app, ok
from tests.http.edge_apps import count_in
from tests.http.raw import (
    HANDSHAKE,
    ServeApp,
    error_of,
    raw_request,
    serving,
    text_frame,
)
from tests.http.sockets import LIMITS
from tests.patience import PATIENCE_S

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


@pytest.mark.usefixtures("lane_serves_socket")
async def test_a_websocket_carries_its_request_id_and_fails_with_1011(serve_app: ServeApp) -> None:
    async def fails(session: AcceptedSocket) -> None:
        await session.receive()
        raise ValueError

    serve = partial(
        serve_socket, subprotocol=None, handler=fails, limits=LIMITS, sockets=OpenSockets()
    )
    app = edge(http_app(serve), sockets=(b"/game/socket",))
    async with serving(serve_app, app) as server, await server.client() as client:
        answer = await client.ask(HANDSHAKE % b"/game/socket" + b"\r\n")
        assert (answer.status, answer.headers["x-request-id"]) == (101, "req_1")
        assert "x-service-api-version" not in answer.headers
        await client.send(text_frame(b"x"))
        assert await client.frame() == (8, (1011).to_bytes(2))


@pytest.mark.usefixtures("lane_serves_socket")
async def test_a_websocket_that_is_not_accepted_gets_an_ordinary_answer(
    serve_app: ServeApp,
) -> None:
    async def refuses(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/broken":
            raise ValueError
        if scope["path"] == "/denied":
            await refuse_handshake(send, 401, {"error": "no"})
        else:
            await send({"type": "websocket.close"})

    app = edge(http_app(refuses), sockets=(b"/broken", b"/denied", b"/closed"))
    async with serving(serve_app, app) as server:
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
