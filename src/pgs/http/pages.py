"""The published pages: the changelog and the list of errors.

Every other path or method gets an error in the shape of all errors.
"""

from importlib.resources import files
from typing import Final

import msgspec
from quart import Response
from quart_trio import QuartTrio
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from pgs.domain.errors import ERRORS, ErrorKind

_SENTENCES: Final = {
    400: "The request is not well formed.",
    404: "There is nothing at this path.",
    405: "This path does not take this method.",
    408: "The request body took too long to arrive.",
    413: "The request body is too large.",
}
_CHANGELOG: Final = files("pgs.http").joinpath("published", "changelog.md")


def make_pages() -> QuartTrio:
    """Return the Quart application for every path that is not an endpoint's.

    It answers 404 and 405 (with `Allow`) as `{"error"}` JSON. Exceptions pass through; the edge
    logs and answers them.
    """
    app = QuartTrio("pgs.http", static_folder=None)
    app.config.update(PROPAGATE_EXCEPTIONS=True, PROVIDE_AUTOMATIC_OPTIONS=False)
    # Quart would redirect a path with a double slash, and so tell which paths exist.
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

    for (
        rule
    ) in app.url_map.iter_rules():  # werkzeug adds HEAD to every GET; here GET is what is served
        (rule.methods or set()).discard("HEAD")
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

    `alternateStatus` is the status of the calls that do not use the first one.
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
