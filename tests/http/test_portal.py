"""The portal's document, its files, and the headers with which they are served."""

import gzip
import html
import json
from pathlib import Path

import pytest

from pgs.http.pages import make_pages
from pgs.http.portal import DATA_MARK, Portal, read_portal
from tests.http.apps import edge
from tests.http.raw import ServeApp, serving

ISSUER = "https://id.example/realms/a"


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """A folder as `scripts/web` makes it."""
    (tmp_path / "assets").mkdir()
    (tmp_path / "portal.html").write_text(f'<meta name="pgs-portal" content="{DATA_MARK}">')
    (tmp_path / "preview.html").write_text("<title>Preview</title>")
    (tmp_path / "assets" / "portal-Ab12Cd34.js").write_text("start();" * 100)
    (tmp_path / "assets" / "portal-Ab12Cd34.js.br").write_bytes(b"as Brotli")
    (tmp_path / "assets" / "portal-Ef56Gh78.css").write_text("body{}")
    (tmp_path / "assets" / "notes.txt").write_text("not served")
    return tmp_path


def _read(built: Path, audience: str = 'po"rtal') -> Portal:
    portal = read_portal(ISSUER, 'po"rtal', audience, built)
    assert portal is not None
    return portal


async def test_every_path_of_the_portal_has_the_document_and_its_policy(
    serve_app: ServeApp, built: Path
) -> None:
    app = edge(make_pages("", _read(built)))
    async with serving(serve_app, app) as server, await server.client() as client:
        for path in (
            "/portal",
            "/portal/",
            "/portal/test/keys",
            "/portal/signed-in?code=x",
            "/portal/a/b/c",
        ):
            answer = await client.get(path)
            assert answer.status == 200, path
            assert answer.headers["cache-control"] == "no-store"
            assert answer.headers["referrer-policy"] == "no-referrer"
            assert answer.headers["x-content-type-options"] == "nosniff"
            opener = answer.headers["cross-origin-opener-policy"]
            assert opener == "same-origin-allow-popups", path
            assert "x-service-api-version" not in answer.headers
        document = await client.get("/portal")
        policy = dict(
            part.split(" ", 1) for part in document.headers["content-security-policy"].split("; ")
        )
        assert policy == {
            "default-src": "'none'",
            "script-src": "'self'",
            "style-src": "'self'",
            "img-src": "data:",
            "connect-src": "'self' https://id.example",
            "frame-src": "'self' https://id.example",
            "base-uri": "'none'",
            "form-action": "'none'",
            "frame-ancestors": "'self'",
            "require-trusted-types-for": "'script'",
        }
        told = html.unescape(document.body.decode().split('content="')[1].removesuffix('">'))
        assert json.loads(told) == {"issuer": ISSUER, "clientId": 'po"rtal', "sends": "id"}


async def test_only_the_answer_to_a_sign_in_in_a_small_window_reaches_its_opener(
    serve_app: ServeApp, built: Path
) -> None:
    app = edge(make_pages("", _read(built)))
    async with serving(serve_app, app) as server, await server.client() as client:
        for path, kept in (
            ("/portal/signed-in?code=x&state=w.abc", False),
            ("/portal/signed-in?code=x&state=abc", True),
            ("/portal/signed-in", True),
            ("/portal/test?state=w.abc", True),
            ("/portal/preview", True),
        ):
            answer = await client.get(path)
            assert ("cross-origin-opener-policy" in answer.headers) is kept, path


async def test_no_cache_keeps_a_refusal_below_the_portal(serve_app: ServeApp, built: Path) -> None:
    app = edge(make_pages("", _read(built)))
    async with serving(serve_app, app) as server, await server.client() as client:
        for method, path, status in (
            (b"GET", b"/portal/assets/none.js", 404),
            (b"POST", b"/portal/test", 405),
            (b"DELETE", b"/portal", 405),
        ):
            raw = method + b" " + path + b" HTTP/1.1\r\nHost: a\r\n\r\n"
            answer = await client.ask(raw)
            assert (answer.status, answer.headers["cache-control"]) == (status, "no-store"), path


async def test_the_preview_connects_to_nothing_and_only_the_portal_frames_it(
    serve_app: ServeApp, built: Path
) -> None:
    app = edge(make_pages("", _read(built)))
    async with serving(serve_app, app) as server, await server.client() as client:
        answer = await client.get("/portal/preview")
    assert (answer.status, answer.body) == (200, b"<title>Preview</title>")
    policy = answer.headers["content-security-policy"].split("; ")
    assert {"default-src 'none'", "frame-ancestors 'self'", "script-src 'self'"} <= {*policy}
    assert "connect-src" not in answer.headers["content-security-policy"]
    assert answer.headers["cache-control"] == "no-store"


async def test_the_files_are_served_for_ever_and_compressed(
    serve_app: ServeApp, built: Path
) -> None:
    app = edge(make_pages("", _read(built)))
    async with serving(serve_app, app) as server, await server.client() as client:
        for name, kind in (
            ("portal-Ab12Cd34.js", "text/javascript; charset=utf-8"),
            ("portal-Ef56Gh78.css", "text/css; charset=utf-8"),
        ):
            answer = await client.get(f"/portal/assets/{name}")
            assert (answer.status, answer.headers["content-type"]) == (200, kind)
            assert "immutable" in answer.headers["cache-control"]
            assert answer.headers["vary"] == "Accept-Encoding"
            assert answer.body == (built / "assets" / name).read_bytes()
        for name in ("notes.txt", "portal-Ab12Cd34.js.br", "portal-00000000.js"):
            assert (await client.get(f"/portal/assets/{name}")).status == 404
        for accepted, coding in (
            ("gzip", "gzip"),
            ("gzip, deflate, br", "br"),
            ("br;q=0, gzip", "gzip"),
            ("brotli, x-gzip", None),
        ):
            answer = await client.get(
                "/portal/assets/portal-Ab12Cd34.js", f"Accept-Encoding: {accepted}"
            )
            assert answer.headers.get("content-encoding") == coding, accepted
            assert answer.body == {
                "gzip": gzip.compress(b"start();" * 100, mtime=0),
                "br": b"as Brotli",
                None: b"start();" * 100,
            }.get(coding)
        # This file was not compressed with Brotli.
        answer = await client.get("/portal/assets/portal-Ef56Gh78.css", "Accept-Encoding: br, gzip")
        assert answer.headers["content-encoding"] == "gzip"


def test_a_portal_into_which_nobody_could_sign_in_is_not_served(built: Path) -> None:
    assert read_portal("", "portal", "portal", built) is None
    assert read_portal(ISSUER, "", "api", built) is None
    (built / "portal.html").unlink()
    assert read_portal(ISSUER, "portal", "portal", built) is None


def test_with_another_audience_than_the_client_id_the_portal_sends_the_access_token(
    built: Path,
) -> None:
    assert b"&quot;sends&quot;:&quot;access&quot;" in _read(built, "https://api.example").document


async def test_without_the_portal_its_paths_are_unknown(serve_app: ServeApp) -> None:
    async with serving(serve_app, edge(make_pages())) as server, await server.client() as client:
        for path in ("/portal", "/portal/test/keys", "/portal/assets/x.js"):
            assert (await client.get(path)).status == 404
