"""Serves the portal: the HTML document, and the scripts and styles that it loads.

Every page under `/portal` is this one document, with two exceptions: the preview of a theme, and
the frames under `/portal/frame`, which `pgs.http.embed` serves. The document is the same for
everybody and contains no secret. The data that it shows comes from the admin API.
"""

import html
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final
from urllib.parse import urlsplit

import msgspec
from quart import Response, request
from quart_trio import QuartTrio

from pgs.http.compressed import compressed_forms, form_for

DATA_MARK: Final = "%PGS_PORTAL%"
"""The mark in the document for the JSON of `PortalData`, inside an attribute in double quotes."""

_TYPES: Final = {"js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8"}

_FILE_HEADERS: Final = {
    "Cache-Control": "public, max-age=31536000, immutable",
    "Vary": "Accept-Encoding",
    "Cross-Origin-Resource-Policy": "same-origin",
}

_DOCUMENT_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    # A page that opens the portal cannot reach the portal's window. The value is not `same-origin`,
    # because the portal must reach the small window in which a member signs in again.
    "Cross-Origin-Opener-Policy": "same-origin-allow-popups",
}

WINDOW_MARK: Final = "w."
"""First characters of the `state` of a sign-in in a small window that the portal has opened. At the
end of the sign-in, the issuer sends the small window to `/portal/signed-in`. The document there
passes the issuer's answer to the window that opened the small one. `Cross-Origin-Opener-Policy`
would separate the two windows, so this document is sent without it."""

_PREVIEW_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'self'; require-trusted-types-for 'script'"
)
"""The policy of the preview. It connects to nothing, and only the portal frames it."""


class PortalData(msgspec.Struct, frozen=True, rename="camel"):
    """What the document tells its script. `sends`: which token the API gets, `id` or `access`."""

    issuer: str
    client_id: str
    sends: str


class BuiltFile(msgspec.Struct, frozen=True):
    """A built file, and its compressed forms by the name of their coding, the smallest first."""

    content: bytes
    compressed: Mapping[str, bytes]
    content_type: str


class Portal(msgspec.Struct, frozen=True):
    """The portal as it is served. `files` are below `/portal/assets/`.

    `preview` is the frame with a match that nobody plays, which the portal shows beside a theme.
    """

    document: bytes
    headers: Mapping[str, str]
    files: Mapping[str, BuiltFile]
    preview: bytes


def read_portal(
    issuer: str, client_id: str, audience: str, folder: Traversable | None = None
) -> Portal | None:
    """Return the portal in `folder`, by default the one in the package.

    None if it was not built, or if nobody could sign in: without an issuer or a client id.
    """
    is_own = folder is None
    folder = folder or files("pgs").joinpath("web", "portal")
    template = folder.joinpath("portal.html")
    if not issuer or not client_id or not template.is_file():
        return None
    # If the API has another audience than the client id, access tokens name that audience.
    # Otherwise access tokens may be opaque, so the page sends the ID token.
    data = PortalData(issuer, client_id, "id" if audience == client_id else "access")
    told = html.escape(msgspec.json.encode(data).decode(), quote=True)
    document = template.read_text("utf-8").replace(DATA_MARK, told)
    return Portal(
        document.encode(),
        _DOCUMENT_HEADERS | {"Content-Security-Policy": content_security_policy(issuer)},
        _packaged() if is_own else _files_in(folder),
        folder.joinpath("preview.html").read_bytes(),
    )


def content_security_policy(issuer: str) -> str:
    """Return the policy of the portal's document.

    The document loads only its own files, connects only to this service and to the issuer, and may
    be framed only by itself, because a hidden frame renews the sign-in.
    """
    parts = urlsplit(issuer)
    origin = f"{parts.scheme}://{parts.netloc}"
    return "; ".join(
        (
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "img-src data:",
            f"connect-src 'self' {origin}",
            f"frame-src 'self' {origin}",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'self'",
            "require-trusted-types-for 'script'",
        )
    )


def add_portal(app: QuartTrio, portal: Portal) -> None:
    """Let `app` serve the portal."""

    @app.get("/portal")
    @app.get("/portal/")
    @app.get("/portal/<path:path>")
    async def _document(path: str = "") -> Response:
        headers = dict(portal.headers)
        if path == "signed-in" and request.args.get("state", "").startswith(WINDOW_MARK):
            del headers["Cross-Origin-Opener-Policy"]
        return Response(portal.document, content_type="text/html; charset=utf-8", headers=headers)

    @app.get("/portal/preview")
    async def _preview() -> Response:
        headers = _DOCUMENT_HEADERS | {"Content-Security-Policy": _PREVIEW_POLICY}
        return Response(portal.preview, content_type="text/html; charset=utf-8", headers=headers)

    @app.get("/portal/assets/<name>")
    async def _file(name: str) -> Response:
        found = portal.files.get(name)
        if found is None:
            return Response("", status=404, content_type="text/plain")
        headers = dict(_FILE_HEADERS)
        accepted = request.headers.get("Accept-Encoding", "").encode()
        content, coding = form_for(accepted, found.content, found.compressed)
        if coding is not None:
            headers["Content-Encoding"] = coding
        return Response(content, content_type=found.content_type, headers=headers)


@cache
def _packaged() -> Mapping[str, BuiltFile]:
    return _files_in(files("pgs").joinpath("web", "portal"))


def _files_in(folder: Traversable) -> Mapping[str, BuiltFile]:
    assets = folder.joinpath("assets")
    return {
        item.name: _built(assets, item.name)
        for item in assets.iterdir()
        if item.name.rpartition(".")[2] in _TYPES
    }


def _built(folder: Traversable, name: str) -> BuiltFile:
    content = folder.joinpath(name).read_bytes()
    return BuiltFile(content, compressed_forms(folder, name), _TYPES[name.rpartition(".")[2]])
