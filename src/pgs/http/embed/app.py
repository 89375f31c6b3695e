"""Serves everything under `/embed`, and the frame of the portal under `/portal/frame`.

A failure is answered with a status and no body. The answer is the same for an unknown partner and
for a partner that is switched off.
"""

import gzip
from base64 import b64decode, urlsafe_b64encode
from typing import Final
from urllib.parse import parse_qs, unquote_to_bytes

import msgspec
import structlog
import trio

from pgs.domain.accounts import Account
from pgs.domain.environments import Environment
from pgs.domain.names import is_partner_id
from pgs.http.api.auth import overloaded
from pgs.http.api.services import Services
from pgs.http.api.themes import frame_theme
from pgs.http.compressed import form_for
from pgs.http.embed.assets import Asset, Assets
from pgs.http.embed.documents import Frame, NoFrame
from pgs.http.embed.languages import language_of
from pgs.http.embed.policy import FrameData, content_security_policy, fill, frame_ancestors
from pgs.http.outbound.fetch import NotFetched
from pgs.http.transport.asgi import App, Receive, Scope, Send
from pgs.http.transport.heads import is_under, takes_coding
from pgs.storage.themes import find_logo

HeaderTuple = tuple[tuple[bytes, bytes], ...]

NONCE_BYTES: Final = 16
"""Bytes of randomness in a document's nonce: the 128 bits that CSP level 3 asks for."""

_DOCUMENT_HEADERS: Final = (
    (b"content-type", b"text/html; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"vary", b"accept-language, accept-encoding"),
    (b"referrer-policy", b"no-referrer"),
    (
        b"permissions-policy",
        b"camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
    ),
)

_LOGO_HEADERS: Final = (
    (b"cache-control", b"public, max-age=31536000, immutable"),
    (b"cross-origin-resource-policy", b"cross-origin"),
    (b"content-security-policy", b"default-src 'none'"),
)

QUERY_FIELDS_MAX: Final = 16
"""Fields of a document's query. Only one field has a meaning, so a query with more fields than this
is treated as empty."""

PORTAL_FRAME: Final = "/portal/frame"
"""The beginning of the paths of the frames that only the portal can show. Such a path is
`/portal/frame/test/<partner>`. A partner's registered origins cannot show these frames."""

log = structlog.get_logger("pgs.embed")


class Bare(msgspec.Struct, frozen=True):
    """An answer without a body."""

    status: int
    headers: HeaderTuple = ()


class Page(msgspec.Struct, frozen=True):
    """A 200 with a body, or a 304 without one."""

    content: bytes
    headers: HeaderTuple
    status: int = 200


NOT_FOUND: Final = Bare(404)


class EmbedApp:
    """An ASGI application that serves the frame's documents and files.

    `fallback` serves every other path. `for_portal`: there is a portal, which shows frames too.
    """

    def __init__(
        self,
        services: Services,
        frame: Frame,
        assets: Assets,
        fallback: App,
        *,
        for_portal: bool = False,
    ) -> None:
        self._services = services
        self._frame = frame
        self._assets = assets
        self._fallback = fallback
        self._roots = ("/embed", PORTAL_FRAME) if for_portal else ("/embed",)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        # The scope of a lifespan has no path.
        if scope["type"] != "http" or not self._serves(scope["path"]):
            await self._fallback(scope, receive, send)
            return
        started = trio.current_time()
        name = "/embed"
        answer: Bare | Page
        try:
            name, answer = await self._answer(scope)
        except Exception:
            log.exception("handler_crashed", request_id=scope["state"]["request_id"])
            self._services.parts.on_event("handler_crashed")
            answer = Bare(500)
        await _send(send, answer, bare=scope["method"] == "HEAD")
        self._services.on_request(name, answer.status, trio.current_time() - started)

    def _serves(self, path: str) -> bool:
        return any(is_under(path, root) for root in self._roots)

    async def _answer(self, scope: Scope) -> tuple[str, Bare | Page]:
        """Return the route's name in the metrics, and the answer."""
        logo: bytes | None = None
        portal = is_under(scope["path"], PORTAL_FRAME)
        match scope["raw_path"].split(b"/")[2:]:
            case [b"frame", b"test", name] if portal:
                environment: Environment = "test"
                route = f"{PORTAL_FRAME}/test/{{partner_id}}"
            case _ if portal:
                return PORTAL_FRAME, NOT_FOUND
            case [b"test", name, b"logo", logo]:
                environment = "test"
                route = "/embed/test/{partner_id}/logo/{sha256}"
            case [name, b"logo", logo]:
                environment = "live"
                route = "/embed/{partner_id}/logo/{sha256}"
            case [name]:
                environment = "live"
                route = "/embed/{partner_id}"
            case [b"test", name]:
                environment = "test"
                route = "/embed/test/{partner_id}"
            case _:
                return "/embed", NOT_FOUND
        if not name:
            return PORTAL_FRAME if portal else "/embed", NOT_FOUND
        if scope["method"] not in ("GET", "HEAD"):
            return route, Bare(405, ((b"allow", b"GET, HEAD"),))
        text = unquote_to_bytes(name).decode("utf-8", "replace")
        if logo is not None:
            return route, await self._logo(text, environment, logo, scope)
        asset = self._assets.files.get(text) if environment == "live" else None
        if asset is not None:
            return "/embed/{file}", self._file(asset, scope)
        return route, await self._document(text, environment, scope, portal=portal)

    def _file(self, asset: Asset, scope: Scope) -> Bare | Page:
        admitted = self._services.directory.admission.process.admit(trio.current_time())
        if not admitted.allowed:
            return Bare(429, overloaded(admitted.retry_after))
        content, coding = form_for(_accepted(scope), asset.content, asset.compressed)
        if coding is None:
            return Page(content, asset.headers)
        return Page(content, (*asset.headers, (b"content-encoding", coding.encode())))

    async def _document(
        self, partner_id: str, environment: Environment, scope: Scope, *, portal: bool
    ) -> Bare | Page:
        """Return the frame. Only registered origins may show it; with `portal`, only the portal."""
        account = self._admit(partner_id, environment)
        if isinstance(account, Bare):
            return account
        own = (self._services.base_url,)
        origins = own if portal else tuple(account.origins.get(environment, ()))
        if not origins:
            return Bare(409)
        try:
            template = await self._frame.template(_language(scope))
        except NoFrame:
            return Bare(503)
        except NotFetched:
            return Bare(502)
        theme = await frame_theme(self._services, partner_id, environment)
        nonce = urlsafe_b64encode(self._services.parts.rng.bytes(NONCE_BYTES)).decode()
        data = FrameData(partner_id, environment, origins, theme)
        content = fill(template, nonce, data).encode()
        ancestors = frame_ancestors(origins, portal=portal)
        policy = content_security_policy(nonce, ancestors, self._services.base_url).encode()
        headers = (*_DOCUMENT_HEADERS, (b"content-security-policy", policy))
        if takes_coding(_accepted(scope), b"gzip"):
            # The document contains no secret that the length of its compressed form could reveal.
            coded = gzip.compress(content, mtime=0)
            return Page(coded, (*headers, (b"content-encoding", b"gzip")))
        return Page(content, headers)

    async def _logo(
        self, partner_id: str, environment: Environment, sha256: bytes, scope: Scope
    ) -> Bare | Page:
        """Return the logo's file. Its address contains its hash, so the file never changes."""
        account = self._admit(partner_id, environment)
        if isinstance(account, Bare):
            return account
        logo = await find_logo(self._services.parts.database.reader, partner_id, environment)
        if logo is None or logo.sha256.encode() != sha256:
            return NOT_FOUND
        tag = b'"%s"' % sha256
        headers = (*_LOGO_HEADERS, (b"content-type", logo.mime.encode()), (b"etag", tag))
        known = b",".join(value for name, value in scope["headers"] if name == b"if-none-match")
        if tag in known or known.strip() == b"*":
            return Page(b"", headers, 304)
        return Page(b64decode(logo.base64), headers)

    def _admit(self, partner_id: str, environment: Environment) -> Account | Bare:
        """Return the account whose frame may be served now, or the refusal.

        If this function returns 404, the request does not draw from any partner's rate limit.
        """
        services, now = self._services, trio.current_time()
        restricted = services.restricted_to is not None and environment != services.restricted_to
        if not is_partner_id(partner_id) or restricted:
            return NOT_FOUND
        if services.parts.registry.is_closed(now):
            process = services.directory.admission.process.admit(now)
            return Bare(500) if process.allowed else Bare(429, overloaded(process.retry_after))
        account = services.parts.registry.account(partner_id)
        if account is None or not account.active:
            return NOT_FOUND
        admission = services.directory.partner(partner_id).embed_admission.admit(account, now)
        if admission.refused_by is not None:
            services.parts.on_event(f"rate_limited_by_{admission.refused_by}")
            return Bare(429, overloaded(admission.retry_after))
        return account


def _accepted(scope: Scope) -> bytes:
    """Return the value of Accept-Encoding; empty if the header is missing."""
    return b",".join(value for name, value in scope["headers"] if name == b"accept-encoding")


def _language(scope: Scope) -> str:
    """Return the language of the document that a request gets."""
    try:
        asked = parse_qs(scope["query_string"].decode("latin-1"), max_num_fields=QUERY_FIELDS_MAX)
    except ValueError:
        asked = {}
    accepted = b",".join(value for name, value in scope["headers"] if name == b"accept-language")
    return language_of(asked.get("lang", ()), accepted.decode("latin-1"))


async def _send(send: Send, answer: Bare | Page, *, bare: bool) -> None:
    """Send the answer. `bare`: send its headers only, as for a HEAD."""
    if isinstance(answer, Bare):
        status, content = answer.status, b""
        headers: HeaderTuple = (
            (b"content-type", b"text/plain"),
            (b"cache-control", b"no-store"),
            *answer.headers,
        )
    else:
        status, content, headers = answer.status, answer.content, answer.headers
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [*headers, (b"content-length", b"%d" % len(content))],
        }
    )
    await send({"type": "http.response.body", "body": b"" if bare else content})
