"""The published pages, over real sockets."""

import json

import pytest

from pgs.domain.errors import ERRORS
from pgs.http.pages import make_pages
from tests.http.apps import edge
from tests.http.raw import HANDSHAKE, ServeApp, error_of, raw_request, serving


async def test_an_unknown_path_is_a_404_in_the_error_shape(serve_app: ServeApp) -> None:
    async with serving(serve_app, edge(make_pages())) as server, await server.client() as client:
        for path in (
            "/partner/nothing",
            "/docs//changelog.md",
            "/docs/changelog.md/",
            "/%ff",
            "/static/x",
        ):
            answer = await client.get(path)
            assert answer.status == 404, path
            assert error_of(answer)
        answer = await client.ask(
            raw_request("POST /docs/changelog.md HTTP/1.1", "Content-Length: 0")
        )
        assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD")
        assert error_of(answer)
        answer = await client.ask(raw_request("OPTIONS /docs/changelog.md HTTP/1.1"))
        assert answer.status == 405
    async with serving(serve_app, edge(make_pages())) as server, await server.client() as client:
        answer = await client.ask(HANDSHAKE % b"/nothing" + b"\r\n")
        assert answer.status == 404
        assert error_of(answer)


async def test_the_published_documents_are_served(serve_app: ServeApp) -> None:

    async with serving(serve_app, edge(make_pages())) as server, await server.client() as client:
        changelog = await client.get("/docs/changelog.md")
        assert changelog.headers["content-type"] == "text/markdown; charset=utf-8"
        assert b"Version 1" in changelog.body
        errors = json.loads((await client.get("/docs/errors.json")).body)["errors"]
        assert {row["reason"]: row["status"] for row in errors} == {
            kind.reason: kind.status for kind in ERRORS.values()
        }
        assert "x-service-api-version" not in changelog.headers


async def test_the_answer_to_head_of_a_published_document_has_the_headers_of_get_and_no_body(
    serve_app: ServeApp,
) -> None:
    for path in ("/docs/changelog.md", "/docs/errors.json", "/docs/nothing"):
        async with (
            serving(serve_app, edge(make_pages())) as server,
            await server.client() as client,
        ):
            full = await client.get(path)
            await client.send(raw_request(f"HEAD {path} HTTP/1.1", "Connection: close"))
            head = await client.answer(to_head=True)
            assert await client.end() == b""
        assert head.status == full.status
        differing = {"date", "x-request-id", "connection"}
        assert {name: value for name, value in head.headers.items() if name not in differing} == {
            name: value for name, value in full.headers.items() if name not in differing
        }
        assert int(head.headers["content-length"]) == len(full.body)


async def test_the_root_sends_people_to_the_guide_and_tells_programs_where_it_is(
    serve_app: ServeApp,
) -> None:
    pages = edge(make_pages("https://pgs.example"))
    async with serving(serve_app, pages) as server, await server.client() as client:
        told = json.loads((await client.get("/")).body)
        assert told["docs"] == "https://pgs.example/docs/"
        answer = await client.ask(raw_request("GET / HTTP/1.1", "Accept: text/html,*/*"))
        assert (answer.status, answer.headers["location"]) == (302, "/docs/")
        assert (await client.get("/docs")).status == 308


async def test_a_page_of_the_guide_loads_nothing_from_elsewhere(serve_app: ServeApp) -> None:
    pages = edge(make_pages("https://pgs.example"))
    async with serving(serve_app, pages) as server, await server.client() as client:
        answer = await client.get("/docs/")
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "'unsafe-inline'" not in policy
        assert (await client.get("/docs/guide.js")).headers["content-type"] == "text/javascript"


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("/partner/me/", "/partner/me"),
        ("/partner//me", "/partner/me"),
        ("/Partner/Me", "/partner/me"),
        ("/api/v1/partner/sessions", "/partner/sessions"),
        ("/partner/v1/tiers", "/partner/tiers"),
        ("/sessions", "/partner/sessions"),
        ("/partner/match/mat_secret", "/partner/matches/{match_id}"),
        ("/partner/seat_summary", "/partner/seat-summary"),
        ("/docs/webhooks/", "/docs/webhooks"),
        ("/docs/webhook", "/docs/webhooks"),
        ("/docs/" + "webhooks" * 9, None),
        ("/nothing/like/it", None),
    ],
)
async def test_the_answer_at_an_unknown_path_names_the_one_that_was_meant(
    serve_app: ServeApp, path: str, meant: str | None
) -> None:
    async with serving(serve_app, edge(make_pages())) as server, await server.client() as client:
        answer = await client.get(path)
        assert answer.status == 404
        hint = f" Did you mean {meant}?" if meant else ""
        assert error_of(answer)["error"] == f"There is nothing at this path.{hint}"


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/docs/webhook", 'Did you mean <a href="/docs/webhooks">/docs/webhooks</a>?'),
        ("/docs/nothing%3Cb%3E", "The guide has no page at this address."),
    ],
)
async def test_a_browser_at_an_unknown_page_of_the_guide_gets_a_page_with_links(
    serve_app: ServeApp, path: str, shown: str
) -> None:
    async with serving(serve_app, edge(make_pages())) as server, await server.client() as client:
        answer = await client.ask(raw_request(f"GET {path} HTTP/1.1", "Accept: text/html"))
        assert answer.status == 404
        assert answer.headers["content-type"].startswith("text/html")
        assert "content-security-policy" in answer.headers
        text = answer.body.decode()
        assert shown in text
        assert '<a href="/docs/">' in text
        assert "<b>" not in text


async def test_the_list_of_pages_for_tools_is_where_tools_look(serve_app: ServeApp) -> None:
    pages = make_pages("https://pgs.example")
    async with serving(serve_app, edge(pages)) as server, await server.client() as client:
        assert (await client.get("/llms.txt")).body == (await client.get("/docs/llms.txt")).body
        assert b'"llms":"https://pgs.example/llms.txt"' in (await client.get("/")).body
