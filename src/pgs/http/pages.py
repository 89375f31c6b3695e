"""The published pages: the changelog and the list of errors.

A HEAD is answered like a GET, without the body. Any other path or method is answered with a JSON
error.
"""

from importlib.resources import files
from typing import Final

import msgspec
from quart import Response
from quart_trio import QuartTrio
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from pgs.domain.errors import ERRORS, ErrorKind
from pgs.http.reference.openapi import make_openapi, read_examples
from pgs.http.surface import ENDPOINTS

_SENTENCES: Final = {
    400: "The request is not well formed.",
    404: "There is nothing at this path.",
    405: "This path does not take this method.",
    408: "The request body took too long to arrive.",
    413: "The request body is too large.",
}
_CHANGELOG: Final = files("pgs.http").joinpath("published", "changelog.md")


def make_pages(base_url: str = "") -> QuartTrio:
    """Return the Quart application that serves every path without an endpoint.

    `base_url` is the address of the service, for the documents that name it.

    Its 404 and 405 (with `Allow`) are JSON objects with `error`. Exceptions pass through; the edge
    logs and answers them.
    """
    app = QuartTrio("pgs.http", static_folder=None)
    app.config.update(PROPAGATE_EXCEPTIONS=True, PROVIDE_AUTOMATIC_OPTIONS=False)
    # Otherwise Quart redirects a path with a double slash, and so reveals which paths exist.
    app.url_map.merge_slashes = False
    app.register_error_handler(HTTPException, _in_our_shape)

    changelog = _CHANGELOG.read_bytes()
    errors = msgspec.json.encode({"errors": [_published(kind) for kind in ERRORS.values()]})

    @app.get("/docs/changelog.md")
    async def _changelog() -> Response:
        return Response(changelog, content_type="text/markdown; charset=utf-8")

    @app.get("/docs/errors.json")
    async def _errors() -> Response:
        return Response(errors, content_type="application/json")

    openapi = msgspec.json.encode(make_openapi(ENDPOINTS, read_examples(), base_url))

    @app.get("/openapi.json")
    async def _openapi() -> Response:
        return Response(openapi, content_type="application/json")

    return app


async def _in_our_shape(error: HTTPException) -> Response:
    status = error.code or 500
    body = msgspec.json.encode({"error": _SENTENCES.get(status, error.name)})
    response = Response(body, status=status, content_type="application/json")
    if isinstance(error, MethodNotAllowed) and error.valid_methods:
        response.headers["Allow"] = ", ".join(sorted(error.valid_methods))
    return response


def _published(kind: ErrorKind) -> dict[str, object]:
    """Return a row of the error catalogue as it is published.

    `alternateStatus` is the status that some calls use instead of `status`.
    """
    row: dict[str, object] = {
        "reason": kind.reason,
        "status": kind.status,
        "message": kind.message,
        "fields": kind.extras,
    }
    if kind.optional:
        row["optionalFields"] = kind.optional
    if kind.elsewhere is not None:
        row["alternateStatus"] = kind.elsewhere
    return row
