"""The edge: its checks on every request and its stamps on every response, over real sockets."""

from collections import Counter
from functools import partial

import pytest
import quart
import trio
from quart_trio import QuartTrio

from pgs.http.transport.asgi import Receive, Scope, Send
from pgs.http.transport.heads import stamp
from tests.http.apps import edge, http_app, ok, read_body, reply
from tests.http.edge_apps import count_in
from tests.http.raw import ServeApp, error_of, raw_request, serving


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    body = await read_body(receive)
    await reply(send, 200, body)


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


async def test_a_body_that_arrives_slowly_is_answered_with_408(serve_app: ServeApp) -> None:
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
