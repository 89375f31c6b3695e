"""The pipeline of a call: find the endpoint, authenticate, read, check, handle, tell, respond.

The steps stand below `Dispatcher.__call__` in the order in which a call passes them. Each one
either ends the call with an answer or hands it to the next.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Final

import msgspec
import structlog
import trio

from pgs.actors.kernel.mail import Crashed, Overloaded
from pgs.domain.errors import BadRequest, Refusal, refuse
from pgs.http.api.auth import Verdict, authenticate, overloaded, unauthorised
from pgs.http.api.body import convert, decode_object, read_body, unify_spellings
from pgs.http.api.endpoint import (
    Answer,
    Authenticator,
    CallBy,
    Credential,
    Endpoint,
    Handler,
    Internal,
    Plain,
    Principal,
    Reply,
    Request,
    SocketHandler,
    Stream,
)
from pgs.http.api.hints import (
    explained,
    licence_refusal,
    missing_field,
    missing_key_in,
    no_browser,
    player_refusal,
)
from pgs.http.api.query import parse_query
from pgs.http.api.responses import refuse_method, refuse_plain, render, send_json
from pgs.http.api.routes import Routes
from pgs.http.api.services import Services
from pgs.http.api.streams import OpenStreams
from pgs.http.api.telling import tell_of_answered, tell_of_refused
from pgs.http.api.versioning import from_version, in_version
from pgs.http.transport.asgi import App, ClientGone, Receive, Scope, Send, unless_gone
from pgs.http.transport.sockets import OpenSockets, refuse_handshake
from pgs.storage.transactions import StoreOutage, WriterFull

NOTHING_HERE: Final = "There is nothing at this path."

UNLICENSED: Final = frozenset({"game_not_licensed", "game_not_licensed_in_this_environment"})
"""The reasons of a launch that lacks a licence."""

log = structlog.get_logger("pgs.http")


class Dispatcher:
    """An ASGI application that serves the endpoint table and the WebSockets by path.

    `fallback` serves every other plain request. `authenticators` has one for each credential of the
    table but `partner_key`; ValueError if one is missing. `sockets` is passed to the handlers of
    WebSockets, so that a stop can close them. A plain GET of a WebSocket's path is answered 426.
    """

    def __init__(
        self,
        services: Services,
        table: Iterable[Endpoint],
        fallback: App,
        *,
        authenticators: Mapping[Credential, Authenticator] | None = None,
        websockets: Mapping[str, SocketHandler] | None = None,
        sockets: OpenSockets | None = None,
    ) -> None:
        rows = tuple(table)
        self._services = services
        self._routes = Routes(rows)
        self._fallback = fallback
        self._authenticators = dict(authenticators or {})
        self._websockets = {path.encode(): handler for path, handler in (websockets or {}).items()}
        self._sockets = sockets or OpenSockets()
        self._streams = OpenStreams()
        unknown = {row.credential for row in rows} - {None, "partner_key", *self._authenticators}
        if unknown:
            raise ValueError(f"no authenticator for: {unknown}")

    def end_streams(self) -> None:
        """End all streams, those that are open and those that begin later: the service stops."""
        self._streams.end_all()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or one WebSocket."""
        if scope["type"] == "websocket":
            await self._serve_socket(scope, receive, send)
            return
        # 1. Find the endpoint.
        found = self._routes.find(scope["raw_path"]) if scope["type"] == "http" else None
        if found is None:
            await self._serve_elsewhere(scope, receive, send)
            return
        methods, names = found
        endpoint = methods.get(scope["method"])
        if endpoint is None:
            await refuse_method(send, sorted(methods), no_browser(scope["headers"]))
            return
        started = trio.current_time()
        request = Request(
            self._services, endpoint, names, scope["headers"], scope["state"]["request_id"]
        )
        try:
            verdict = await self._authenticate(request)
            answer = await self._answer(request, verdict, scope["query_string"], receive)
        except ClientGone:
            return
        tell_of_refused(self._services, endpoint, verdict, answer)
        answer = _explained(answer, request, scope["query_string"])
        status = await self._respond(endpoint, verdict, answer, receive, send)
        seconds = trio.current_time() - started
        self._services.on_request(endpoint.path, status, seconds)
        tell_of_answered(request, verdict, answer, scope["raw_path"], status, seconds)

    async def _serve_socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        handler = self._websockets.get(scope["raw_path"])
        if handler is None:
            await refuse_handshake(send, 404, {"error": NOTHING_HERE})
        else:
            await handler(self._services, self._sockets, scope, receive, send)

    async def _serve_elsewhere(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a path that the table lacks: a page, or a WebSocket's path in a plain request."""
        if scope["type"] == "http" and scope["raw_path"] in self._websockets:
            await refuse_plain(scope["method"], send)
        else:
            await self._fallback(scope, receive, send)

    async def _authenticate(self, request: Request) -> Verdict:
        """2. Return who calls, or why the call goes no further."""
        credential = request.endpoint.credential
        if credential is None:
            return Verdict(None)
        if credential == "partner_key":
            return authenticate(self._services, request.endpoint, request.headers)
        judged = self._authenticators[credential](request)
        return Verdict(await self._guarded(request, None, judged))

    async def _answer(
        self, request: Request, verdict: Verdict, query_string: bytes, receive: Receive
    ) -> Answer:
        """Steps 3 to 5, if the caller is admitted: read, check, handle. Raises `ClientGone`."""
        principal, endpoint = verdict.outcome, request.endpoint
        if isinstance(principal, Refusal | BadRequest | Plain | Reply | Internal):
            return principal
        # 3. Read the body, where the call takes one.
        raw = b"" if endpoint.request is None else await read_body(receive)
        call = self._check(request, principal, query_string, raw)
        if isinstance(call, Refusal) and call.reason in UNLICENSED and endpoint.is_replay:
            unlicensed = self._check(request, principal, query_string, raw, licensed=True)
            if not isinstance(unlicensed, CallBy):
                return call
            handled: Awaitable[Answer] = _replay_or(
                call, endpoint.is_replay, endpoint.handler, unlicensed
            )
        elif isinstance(call, Refusal | BadRequest):
            return call
        else:
            handled = endpoint.handler(call)
        # 5. Handle. A held call is given up when its client leaves.
        work = self._guarded(request, principal, handled)
        return await (unless_gone(work, receive) if endpoint.held else work)

    def _check(
        self,
        request: Request,
        principal: object,
        query_string: bytes,
        raw: bytes,
        *,
        licensed: bool = False,
    ) -> CallBy[object] | Refusal | BadRequest:
        """4. Return the call for its handler, or the first fault of query, launch and fields.

        `licensed`: take it that the partner may launch the game.
        """
        endpoint = request.endpoint
        query = parse_query(query_string, endpoint.query)
        if isinstance(query, BadRequest):
            return query
        body: object = None
        if endpoint.request is not None and (raw or not endpoint.may_lack_body):
            fields = decode_object(raw)
            if isinstance(fields, BadRequest):
                return fields
            fault: Refusal | BadRequest | None = from_version(
                fields, endpoint.request, self._version(principal), self._services.parts.versions
            )
            if fault is None and endpoint.launch and isinstance(principal, Principal):
                fault = self._check_launch(principal, fields, licensed=licensed)
            if fault is None and endpoint.spellings:
                fault = unify_spellings(fields, endpoint.spellings)
            if fault is not None:
                return fault
            body = convert(fields, endpoint.request)
            if isinstance(body, BadRequest):
                lacks_key = body.message.startswith("Field `idempotencyKey` is required")
                hint = missing_key_in(request.headers) if lacks_key else ""
                return BadRequest(body.message + hint)
        return CallBy(
            request.services,
            principal,
            request.path,
            query,
            body,
            request.request_id,
            request.headers,
        )

    def _version(self, principal: object) -> int:
        """Return the version that answers. Callers without an API key have the current one."""
        return (
            principal.version
            if isinstance(principal, Principal)
            else self._services.parts.versions.current
        )

    def _check_launch(
        self, principal: Principal, body: dict[str, object], *, licensed: bool
    ) -> Refusal | BadRequest | None:
        """Return the first fault of a launch, or None. The licence comes before the player's id."""
        game_id = body.get("gameId")
        if not isinstance(game_id, str):
            return BadRequest(
                "Field `gameId` must be a string."
                if "gameId" in body
                else missing_field("gameId", body)
            )
        installed = self._services.parts.games
        refusal = licence_refusal(principal.account, principal.environment, game_id, installed)
        return (None if licensed else refusal) or player_refusal(body)

    async def _guarded(
        self, request: Request, principal: object, work: Awaitable[Answer]
    ) -> Answer:
        """Return what `work` returns, or the answer for the exception that it raised."""
        on_event, endpoint = self._services.parts.on_event, request.endpoint
        where = {"request_id": request.request_id, "path": endpoint.path}
        try:
            return await work
        except (Overloaded, WriterFull):
            on_event("overloaded")
            return Reply(refuse("rate_limited"), overloaded(1))
        except StoreOutage as error:
            on_event("read_failed")
            log.exception("read_failed", error=str(error), **where, **_partner_of(principal))
            return refuse(endpoint.outage)
        except Crashed as error:
            log.error("actor_crashed", error=str(error), **where, **_partner_of(principal))
            # A read that failed in the actor is answered like one that failed here.
            if error.noun is not None and endpoint.crash is None:
                on_event("read_failed")
                return refuse(endpoint.outage)
        except Exception:
            log.exception("handler_crashed", **where, **_partner_of(principal))
        on_event("handler_crashed")
        return refuse(endpoint.crash) if endpoint.crash else Internal()

    async def _respond(
        self,
        endpoint: Endpoint,
        verdict: Verdict,
        answer: Answer,
        receive: Receive,
        send: Send,
    ) -> int:
        """7. Send the answer; return its status."""
        headers = verdict.headers
        if isinstance(answer, Reply):
            headers += answer.headers
            answer = answer.body
        if isinstance(answer, Stream):
            await self._streams.send(answer, headers, receive, send)
            return 200
        response = render(endpoint, answer, self._services.base_url)
        if response.status == 200 and endpoint.credential != "session":
            shown = in_version(
                response.body, self._version(verdict.outcome), self._services.parts.versions
            )
            response = msgspec.structs.replace(response, body=shown)
        if response.event is not None:
            self._services.parts.on_event(response.event)
        if response.status == 401:  # the key may have been revoked while its call was held
            headers = unauthorised(self._services)
        await send_json(send, response.status, response.body, headers)
        return response.status


async def _replay_or(
    refusal: Refusal,
    is_replay: Callable[[CallBy[Any]], Awaitable[bool]],
    handler: Handler,
    call: CallBy[object],
) -> Answer:
    """Return the answer of a launch that repeats an earlier one, else the refusal."""
    return await handler(call) if await is_replay(call) else refusal


def _explained(answer: Answer, request: Request, query_string: bytes) -> Answer:
    """Return the answer, if it is a refusal with a message for this very call."""
    refusal = answer.body if isinstance(answer, Reply) else answer
    if not isinstance(refusal, Refusal):
        return answer
    refusal = explained(refusal, request.path, query_string)
    return msgspec.structs.replace(answer, body=refusal) if isinstance(answer, Reply) else refusal


def _partner_of(principal: object) -> dict[str, str | None]:
    return {"partner_id": getattr(principal, "partner_id", None)}
