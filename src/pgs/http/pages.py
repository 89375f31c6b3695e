"""The published documents: the guide, the reference, the changelog and the list of errors.

They are rendered once, when the application is first made. `/` leads to these documents. If there
is a portal, its paths are served too. A HEAD is answered like a GET, without the body. Any other
path or method is answered with a JSON error, with two exceptions. For an unknown path below
`/docs/`, a browser gets a page. For an unknown file in `/portal/assets/`, the answer is a 404
without a body.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import cache
from typing import Final

import msgspec
from quart import Response, has_request_context, request
from quart_trio import QuartTrio
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from pgs.http.api.responses import NOTHING_HERE
from pgs.http.endpoint_table import ENDPOINTS
from pgs.http.guide.errors import errors_json
from pgs.http.guide.paths import guess_path
from pgs.http.guide.render import CSP, as_published, index_of, render_page
from pgs.http.guide.sources import Page, all_pages, read_published
from pgs.http.portal import Portal, add_portal
from pgs.http.reference.openapi import make_openapi, read_examples

_SENTENCES: Final = {
    400: "The request is not well formed.",
    404: NOTHING_HERE,
    405: "This path does not take this method.",
    408: "The request body took too long to arrive.",
    413: "The request body is too large.",
}
_JSON: Final = "application/json"
_HTML: Final = "text/html; charset=utf-8"
_MARKDOWN: Final = "text/markdown; charset=utf-8"
_PLAIN: Final = "text/plain; charset=utf-8"

_FIRST: Final = "/docs/"
"""The path of the guide's first page. Because it ends with a slash, the router redirects `/docs` to
it. No other document's path ends with one."""


class Document(msgspec.Struct, frozen=True):
    """A document: its type and its bytes."""

    content_type: str
    content: bytes


def make_documents(base_url: str) -> dict[str, Document]:
    """Return every published document by its path. `base_url` is the address of the service."""
    here = base_url.encode()
    socket = b"ws" + here.removeprefix(b"http")
    return {
        path: Document(
            found.content_type,
            found.content.replace(EXAMPLE, here).replace(_EXAMPLE_SOCKET, socket),
        )
        for path, found in _rendered().items()
    }


EXAMPLE: Final = b"https://games.example"
"""The placeholder for the service's address in every source."""


_EXAMPLE_SOCKET: Final = b"wss://games.example"


@cache
def _rendered() -> dict[str, Document]:
    """Return every document with `EXAMPLE` as the address of the service."""
    base_url = EXAMPLE.decode()
    pages = all_pages()
    openapi = make_openapi(ENDPOINTS, read_examples(), base_url)
    found = {
        "/openapi.json": Document(_JSON, msgspec.json.encode(openapi)),
        "/docs/errors.json": Document(_JSON, msgspec.json.encode(errors_json(base_url))),
        "/docs/search.json": Document(_JSON, msgspec.json.encode(index_of(pages))),
        "/docs/tokens.css": Document("text/css", read_published("tokens.css").encode()),
        "/docs/guide.css": Document("text/css", read_published("guide.css").encode()),
        "/docs/guide.js": Document("text/javascript", read_published("guide.js").encode()),
    }
    lines = ["# Partner Game Service", "", "> Head-to-head games with a stake, in partners' pages."]
    lines += ["", "## Pages", ""]
    for page in pages:
        html = Document(_HTML, render_page(page, base_url).encode())
        found[f"/docs/{page.name}"] = html
        if page.name == "start":
            found[_FIRST] = html
        found[f"/docs/{page.name}.md"] = Document(_MARKDOWN, as_published(page.text).encode())
        lines.append(f"- [{page.title}]({base_url}/docs/{page.name}.md)")
    lines += ["", "## For tools", "", f"- [OpenAPI]({base_url}/openapi.json)"]
    lines.append(f"- [Errors]({base_url}/docs/errors.json)")
    found["/llms.txt"] = Document(_PLAIN, ("\n".join(lines) + "\n").encode())
    found["/docs/llms.txt"] = found["/llms.txt"]
    return found


def make_pages(base_url: str = "", portal: Portal | None = None) -> QuartTrio:
    """Return the Quart application for the documents, the portal and every unknown path.

    `base_url` is the address of the service, for the documents that name it. Without `portal`,
    the portal's paths are unknown.

    Exceptions pass through; the edge logs and answers them.
    """
    app = QuartTrio("pgs.http", static_folder=None)
    app.config.update(PROPAGATE_EXCEPTIONS=True, PROVIDE_AUTOMATIC_OPTIONS=False)
    # Otherwise Quart redirects a path with a double slash, and so reveals which paths exist.
    app.url_map.merge_slashes = False
    documents = make_documents(base_url)
    paths = frozenset(documents)

    @app.errorhandler(HTTPException)
    async def _refused(error: HTTPException) -> Response:
        return _error_response(error, paths, base_url)

    # One rule for each folder, because the router takes a millisecond to compile a rule.
    for folder, names in _by_folder(documents).items():
        any_name = ",".join(f'"{name}"' for name in names)
        serve = _serving(documents, folder)
        app.add_url_rule(f"{folder}<any({any_name}):name>", folder, serve, methods=["GET"])

    @app.get(_FIRST)
    async def _first_page() -> Response:
        return _response(documents[_FIRST], 200)

    @app.get("/")
    async def _root() -> Response:
        return _root_answer(base_url, request.headers.get("Accept", ""))

    if portal is not None:
        add_portal(app, portal)
    return app


def _wants_page() -> bool:
    """Return whether the request is a browser's, for a page of the guide."""
    accept = request.headers.get("Accept", "")
    return request.path.startswith("/docs/") and "text/html" in accept


def _nothing_here(near: str | None, base_url: str) -> Response:
    """Return the guide's 404 page, with a link to `near`, the page that was most likely meant."""
    meant_one = f"Did you mean [{near}]({near})?" if near in _rendered() else ""
    text = f"# Nothing here\n\nThe guide has no page at this address. {meant_one}\n\n"
    text += "Choose a page from the menu, search, or [start at the first page](/docs/).\n"
    page = Page("nothing", "Nothing here", text)
    content = render_page(page, base_url).encode()
    return _response(Document(_HTML, content), 404)


def _by_folder(documents: Iterable[str]) -> dict[str, list[str]]:
    """Return the names of the documents by folder. `_FIRST` is left out, since it has no name."""
    found: dict[str, list[str]] = {}
    for folder, slash, name in (path.rpartition("/") for path in documents if path != _FIRST):
        found.setdefault(folder + slash, []).append(name)
    return found


def _serving(
    documents: Mapping[str, Document], folder: str
) -> Callable[[str], Awaitable[Response]]:
    async def serve(name: str) -> Response:
        return _response(documents[folder + name], 200)

    return serve


def _response(document: Document, status: int) -> Response:
    response = Response(document.content, status=status, content_type=document.content_type)
    response.headers["Cache-Control"] = "no-cache"
    if document.content_type == _HTML:
        response.headers["Content-Security-Policy"] = CSP
        response.headers["Referrer-Policy"] = "no-referrer"
    return response


def _root_answer(base_url: str, accept: str) -> Response:
    """Return the answer of `/`: browsers are redirected to the guide, programs get addresses."""
    if "text/html" in accept:
        return Response(b"", status=302, headers={"Location": "/docs/"}, content_type=_PLAIN)
    body = {
        "service": "Partner Game Service",
        "docs": f"{base_url}/docs/",
        "openapi": f"{base_url}/openapi.json",
        "errors": f"{base_url}/docs/errors.json",
        "llms": f"{base_url}/llms.txt",
    }
    return Response(msgspec.json.encode(body), content_type=_JSON)


def _error_response(error: HTTPException, paths: frozenset[str], base_url: str) -> Response:
    status = error.code or 500
    sentence = _SENTENCES.get(status, error.name)
    # The handshake of a WebSocket has no request context.
    near = guess_path(request.path, paths) if status == 404 and has_request_context() else None
    if near is not None:
        sentence += f" Did you mean {near}?"
    if status == 404 and has_request_context() and _wants_page():
        return _nothing_here(near, base_url)
    body = msgspec.json.encode({"error": sentence})
    response = Response(body, status=status, content_type=_JSON)
    if isinstance(error, MethodNotAllowed) and error.valid_methods:
        response.headers["Allow"] = ", ".join(sorted(error.valid_methods))
    return response
