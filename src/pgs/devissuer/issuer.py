"""The development issuer as a server in this process."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from typing import Final
from urllib.parse import parse_qsl

import msgspec
import structlog
import trio
from joserfc.jwk import RSAKey
from quart import Response, request
from quart_trio import QuartTrio

from pgs.clock import Clock, Rng
from pgs.devissuer.grants import Grants, Reply, SignIn, metadata
from pgs.devissuer.page import HEADERS, error_page, sign_in_page
from pgs.devissuer.people import Person
from pgs.devissuer.signing import LIFETIME_S, Signer, new_key
from pgs.domain import base64url
from pgs.domain.service_urls import is_loopback_host
from pgs.http.transport.limits import ServerLimits
from pgs.http.transport.server import bind, serve

CLIENT_ID: Final = "pgs-portal"

_FORM_MAX: Final = 16 * 1024
"""Bytes of a sign-in form: a few fields and a code."""

SESSIONS_MAX: Final = 1000
"""Browsers whose sign-in the development issuer remembers. Beyond this, the oldest is dropped."""

_COOKIE: Final = "pgs-dev-session"

_LIMITS: Final = ServerLimits(max_connections=256, grace_s=1.0)
"""Limits of the development issuer's listener. `max_connections`: connections at the same time,
more than a few browsers open. `grace_s`: seconds that a stop waits for requests in flight; few, so
that the issuer stops soon."""

# The client runs in a page of another origin. With `*`, browsers let no script read the answer to a
# request that was sent with cookies, so no sign-in is exposed.
_FROM_ANYWHERE: Final = {"Access-Control-Allow-Origin": "*", "Cache-Control": "no-store"}

_log = structlog.get_logger("pgs.devissuer")


class NotLoopback(ValueError):
    """The development issuer was given an address that other machines could reach."""


def minted_sid(uid: str) -> str:
    """Return the `sid` of all tokens that are minted for a person without a sign-in."""
    return f"minted-{uid}"


class DevelopmentIssuer:
    """A running issuer. `issuer` is its URL, as in its tokens and in the service's settings."""

    def __init__(
        self,
        issuer: str,
        audience: str,
        client_id: str,
        people: Sequence[Person],
        clock: Clock,
        rng: Rng,
        key: RSAKey,
    ) -> None:
        self.issuer = issuer
        self.audience = audience
        self.client_id = client_id
        self.people = tuple(people)
        self._clock = clock
        self._signer = Signer(issuer, audience, clock, key)
        self._grants = Grants(client_id, self._signer, clock, rng)
        self._rng = rng
        self._sessions: dict[str, SignIn] = {}  # by the browser's cookie

    @property
    def jwks_url(self) -> str:
        """The URL of the issuer's keys."""
        return f"{self.issuer}/jwks.json"

    def allow_redirects(self, *uris: str) -> None:
        """Accept these redirect URIs, which are compared character by character."""
        self._grants.allow_redirects(*uris)

    def mint_token(self, person: Person, *, lifetime_s: int = LIFETIME_S, **claims: object) -> str:
        """Return a token like that of a sign-in. `claims` replace its claims; None removes a claim.

        All minted tokens of a person belong to one sign-in, unless `claims` has another `sid`.
        """
        usual = {"exp": self._clock.now() + lifetime_s, "sid": minted_sid(person.uid)}
        return self._signer.token(person, {**usual, **claims})

    def make_app(self) -> QuartTrio:
        """Return the application that serves the issuer's endpoints."""
        app = QuartTrio("pgs.devissuer", static_folder=None)
        app.config.update(PROVIDE_AUTOMATIC_OPTIONS=False, MAX_CONTENT_LENGTH=_FORM_MAX)
        grants, people = self._grants, {person.uid: person for person in self.people}

        @app.get("/.well-known/openid-configuration")
        async def _metadata() -> Response:
            return _json(200, metadata(self.issuer))

        @app.get("/jwks.json")
        async def _keys() -> Response:
            return _json(200, self._signer.key_set())

        @app.get("/authorize")
        async def _ask() -> Response:
            known = self._sessions.get(request.cookies.get(_COOKIE, ""))
            reply = grants.ask(_query()) or grants.without_page(_query(), known)
            return (
                Response(sign_in_page(self.people), headers=HEADERS)
                if reply is None
                else _to_browser(reply)
            )

        @app.post("/authorize")
        async def _decide() -> Response:
            form = dict(parse_qsl(await _body(), keep_blank_values=True))
            chosen = form.get("person", "")
            if chosen and chosen not in people:
                return _to_browser(Reply(400, {"error_description": "Nobody here has this name."}))
            if not chosen:
                return _to_browser(grants.decide(_query(), None))
            cookie, sign_in = self._remember(people[chosen])
            response = _to_browser(grants.decide(_query(), sign_in))
            response.set_cookie(_COOKIE, cookie, httponly=True, samesite="Lax")
            return response

        @app.post("/token")
        async def _redeem() -> Response:
            reply = grants.redeem(await _body())
            return _json(reply.status, reply.body)

        return app

    def _remember(self, person: Person) -> tuple[str, SignIn]:
        """Return the cookie of a new sign-in, and the sign-in."""
        cookie, sid = (base64url.encode(self._rng.bytes(32)) for _ in range(2))
        while len(self._sessions) >= SESSIONS_MAX:
            del self._sessions[next(iter(self._sessions))]
        sign_in = self._sessions[cookie] = SignIn(person, sid)
        return cookie, sign_in


def _query() -> str:
    return request.query_string.decode("ascii", "replace")


async def _body() -> str:
    raw = await request.get_data()
    return raw if isinstance(raw, str) else raw.decode("utf-8", "replace")


def _json(status: int, body: object) -> Response:
    return Response(
        msgspec.json.encode(body),
        status=status,
        content_type="application/json",
        headers=_FROM_ANYWHERE,
    )


def _to_browser(reply: Reply) -> Response:
    """Return the redirect, or a page with the error if there is no client to redirect to."""
    if reply.status == 302:
        return Response("", status=302, headers={**HEADERS, **dict(reply.headers)})
    words = str(
        reply.body.get("error_description")
        or reply.body.get("error")
        or "The request is not well formed."
    )
    return Response(error_page(words), status=reply.status, headers=HEADERS)


@asynccontextmanager
async def development_issuer(
    people: Sequence[Person],
    clock: Clock,
    rng: Rng,
    *,
    listen: str = "127.0.0.1:0",
    client_id: str = CLIENT_ID,
    audience: str | None = None,
    redirect_uris: Sequence[str] = (),
    key: RSAKey | None = None,
) -> AsyncIterator[DevelopmentIssuer]:
    """Run an issuer while a block runs. Raises `NotLoopback`, and what `bind` raises.

    `listen` must be a loopback address; port 0 takes a free port. `audience` is the audience of
    access tokens, by default the client; identity tokens are for the client. `key` signs the
    tokens, by default a new one.
    """
    host = listen.rpartition(":")[0]
    if not is_loopback_host(host.removeprefix("[").removesuffix("]")):
        raise NotLoopback(f"the development issuer listens on loopback alone, not on {listen}")
    with closing(bind(listen)) as sock:
        name, port, *_ = sock.getsockname()
        address = f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"
        issuer = DevelopmentIssuer(
            address, audience or client_id, client_id, people, clock, rng, key or new_key()
        )
        issuer.allow_redirects(*redirect_uris)
        stop = trio.Event()

        async def run(task_status: trio.TaskStatus[list[str]]) -> None:
            await serve(
                issuer.make_app(), [sock], stop=stop, limits=_LIMITS, task_status=task_status
            )

        async with trio.open_nursery() as nursery:
            await nursery.start(run)
            _log.warning(
                "development_issuer",
                issuer=address,
                note="no password is asked for; never for production",
            )
            try:
                yield issuer
            finally:
                stop.set()
