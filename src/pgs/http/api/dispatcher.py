"""The dispatcher: serves the endpoint table. Credential, budget, version, body and errors are dealt with here, once for every call."""

from collections.abc import Awaitable, Iterable, Mapping
from typing import Final, cast

import structlog
import trio

from pgs.actors.activity_events import tell_of_refusal
from pgs.actors.kernel.mail import Crashed, Overloaded
from pgs.domain.errors import ERRORS, BadRequest, Refusal, message_of, refuse
from pgs.http.api.auth import authenticate, overloaded, unauthorised
from pgs.http.api.body import convert, decode_object
from pgs.http.api.endpoint import (
    Answer,
    Authenticator,
    CallBy,
    Credential,
    Endpoint,
    Plain,
    Principal,
    Reply,
    Request,
    SocketHandler,
    Stream,
)
from pgs.http.api.launch import check_launch, unify_spellings
from pgs.http.api.query import parse_query
from pgs.http.api.responses import (
    ClientGone,
    HeaderTuple,
    Internal,
    read_body,
    refuse_method,
    refuse_plain,
    send_json,
    unless_gone,
)
from pgs.http.api.routes import Routes
from pgs.http.api.services import Services
from pgs.http.transport.asgi import App, Receive, Scope, Send
from pgs.http.transport.sockets import OpenSockets, refuse_handshake
from pgs.storage.transactions import StoreOutage, WriterFull

INTERNAL_MESSAGE: Final = "Something broke on our side. Try again shortly."
NOTHING_HERE: Final = "There is nothing at this path."

log = structlog.get_logger("pgs.http")


class Dispatcher:
    """An ASGI application: the endpoints of the table, the WebSockets by path, and `fallback` for every other plain request.

    `authenticators` has one for each credential of the table but `partner_key`; ValueError where one is missing. `sockets` are handed to
    the handlers of WebSockets, for a stop to close; a plain GET of such a path is told to upgrade.
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
        self._streams: set[trio.CancelScope] = set()
        self._stopping = False
        unknown = {row.credential for row in rows} - {None, "partner_key", *self._authenticators}
        if unknown:
            raise ValueError(f"nothing can tell who comes with: {unknown}")

    def end_streams(self) -> None:
        """End every answer that has no end of its own, now and from now on: the service stops."""
        self._stopping = True
        for scope in self._streams:
            scope.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or one WebSocket."""
        kind = scope["type"]
        if kind == "websocket":
            await self._socket(scope, receive, send)
            return
        found = self._routes.find(scope["raw_path"]) if kind == "http" else None
        if found is None:
            if kind == "http" and scope["raw_path"] in self._websockets:
                await refuse_plain(scope["method"], send)
            else:
                await self._fallback(scope, receive, send)
            return
        methods, names = found
        endpoint = methods.get(scope["method"])
        if endpoint is None:
            await refuse_method(send, sorted(methods))
            return
        started = trio.current_time()
        try:
            answer, headers = await self._serve(endpoint, names, scope, receive)
        except ClientGone:
            return
        status = await self._respond(endpoint, send, answer, headers, receive)
        self._services.on_request(endpoint.path, status, trio.current_time() - started)

    async def _socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        handler = self._websockets.get(scope["raw_path"])
        if handler is None:
            await refuse_handshake(send, 404, {"error": NOTHING_HERE})
        else:
            await handler(self._services, self._sockets, scope, receive, send)

    async def _serve(
        self, endpoint: Endpoint, names: dict[str, str], scope: Scope, receive: Receive
    ) -> tuple[Answer, HeaderTuple]:
        headers: HeaderTuple = ()
        principal: object = None
        if endpoint.credential == "partner_key":
            verdict = authenticate(self._services, endpoint, scope["headers"])
            headers, principal = verdict.headers, verdict.outcome
            if isinstance(principal, Refusal):
                return principal, headers
        elif endpoint.credential is not None:
            request = Request(
                self._services, endpoint, names, scope["headers"], scope["state"]["request_id"]
            )
            judged = await self._guarded(
                endpoint,
                request.request_id,
                None,
                self._authenticators[endpoint.credential](request),
            )
            if isinstance(judged, Refusal | BadRequest | Plain | Reply | Internal):
                return judged, headers
            principal = judged
        raw = b"" if endpoint.request is None else await read_body(receive)
        work = self._answer(endpoint, principal, names, scope, raw)
        answer = await (unless_gone(work, receive) if endpoint.held else work)
        refused = answer.body if isinstance(answer, Reply) else answer
        if isinstance(refused, Refusal) and isinstance(principal, Principal):
            tell_of_refusal(
                self._services.parts,
                principal.partner_id,
                principal.environment,
                endpoint.path,
                refused.reason,
            )
        return answer, headers

    async def _answer(
        self, endpoint: Endpoint, principal: object, names: dict[str, str], scope: Scope, raw: bytes
    ) -> Answer:
        query = parse_query(scope["query_string"], endpoint.query)
        if isinstance(query, BadRequest):
            return query
        body = self._body(endpoint, principal, raw)
        if isinstance(body, Refusal | BadRequest):
            return body
        request_id = scope["state"]["request_id"]
        call = CallBy(self._services, principal, names, query, body, request_id, scope["headers"])
        return await self._guarded(endpoint, request_id, principal, endpoint.handler(call))

    async def _guarded(
        self, endpoint: Endpoint, request_id: str, principal: object, work: Awaitable[Answer]
    ) -> Answer:
        """What `work` returns, or the answer that goes with what it raised."""
        try:
            return await work
        except (Overloaded, WriterFull):
            self._services.parts.on_event("overloaded")
            return Reply(refuse("rate_limited"), overloaded(1))
        except StoreOutage as error:
            self._services.parts.on_event("read_failed")
            log.exception(
                "read_failed", error=str(error), **_where(endpoint, request_id, principal)
            )
            return refuse("registry_unavailable")
        except Crashed as error:
            log.error("actor_crashed", error=str(error), **_where(endpoint, request_id, principal))
            if (
                error.noun is not None and endpoint.crash is None
            ):  # a read failed in the actor: the same as one that fails here
                self._services.parts.on_event("read_failed")
                return refuse("registry_unavailable")
        except Exception:
            log.exception("handler_crashed", **_where(endpoint, request_id, principal))
        self._services.parts.on_event("handler_crashed")
        return refuse(endpoint.crash) if endpoint.crash else Internal()

    def _body(self, endpoint: Endpoint, principal: object, raw: bytes) -> object:
        if endpoint.request is None or (endpoint.may_lack_body and not raw):
            return None
        body = decode_object(raw)
        if isinstance(body, BadRequest):
            return body
        if endpoint.launch and isinstance(principal, Principal):
            fault = check_launch(self._services, principal, body)
            if fault is not None:
                return fault
        if endpoint.spellings:
            fault = unify_spellings(body, dict(endpoint.spellings))
            if fault is not None:
                return fault
        return convert(body, endpoint.request)

    async def _respond(
        self, endpoint: Endpoint, send: Send, answer: Answer, headers: HeaderTuple, receive: Receive
    ) -> int:
        """Send the answer; return its status."""
        if isinstance(answer, Reply):
            headers += answer.headers
            answer = answer.body
        status, body = 200, cast("object", answer)
        if isinstance(answer, Refusal):
            self._services.parts.on_event(f"refused_{answer.reason}")
            kind = ERRORS[answer.reason]
            second = endpoint.credential == "session" or answer.reason in endpoint.elsewhere
            status = kind.elsewhere if second and kind.elsewhere is not None else kind.status
            body = {"error": message_of(answer), "reason": answer.reason, **answer.extras}
        elif isinstance(answer, BadRequest):
            self._services.parts.on_event("refused_bad_request")
            status, body = 400, {"error": answer.message}
        elif isinstance(answer, Plain):
            self._services.parts.on_event("refused_plain")
            status, body = answer.status, {"error": answer.message}
        elif isinstance(answer, Internal):
            status, body = 500, {"error": INTERNAL_MESSAGE}
        elif isinstance(answer, Stream):
            await self._stream(answer, headers, receive, send)
            return 200
        if status == 401:  # also of a key that was revoked while its call was held
            headers = unauthorised(self._services)
        await send_json(send, status, body, headers)
        return status

    async def _stream(
        self, answer: Stream, headers: HeaderTuple, receive: Receive, send: Send
    ) -> None:
        async def write(piece: bytes) -> None:
            await send({"type": "http.response.body", "body": piece, "more_body": True})

        own = [(b"content-type", answer.content_type.encode()), *headers]
        await send({"type": "http.response.start", "status": 200, "headers": own})
        with trio.CancelScope() as scope:
            self._streams.add(scope)
            try:
                if self._stopping:
                    scope.cancel()
                await unless_gone(answer.produce(write), receive)
            except ClientGone:
                return
            finally:
                self._streams.discard(scope)
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def _where(endpoint: Endpoint, request_id: str, principal: object) -> dict[str, str | None]:
    return {
        "request_id": request_id,
        "path": endpoint.path,
        "partner_id": getattr(principal, "partner_id", None),
    }
