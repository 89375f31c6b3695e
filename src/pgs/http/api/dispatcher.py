"""The pipeline of a call: find the endpoint, authenticate, read, check, handle, respond, tell.

The numbers in the comments give the order in which a call passes the steps. Each one either ends
the call with an answer or hands it to the next.
"""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec
import trio

from pgs.domain.errors import BadRequest, Refusal
from pgs.http.api.activity import tell_of_answered, tell_of_refused
from pgs.http.api.auth import KeyAuthenticator, Verdict, unauthorised
from pgs.http.api.body import read_body
from pgs.http.api.checks import check, version_of
from pgs.http.api.endpoint import (
    Answer,
    Authenticator,
    CallBy,
    Credential,
    Endpoint,
    Handler,
    Internal,
    Plain,
    Reply,
    Request,
    SocketHandler,
    Stream,
)
from pgs.http.api.failures import answer_to_failure, answer_to_lost, answer_to_unserved
from pgs.http.api.hints import explained, no_browser
from pgs.http.api.responses import (
    JSON_TYPE,
    NOTHING_HERE,
    HeaderTuple,
    Response,
    encode,
    refuse_method,
    refuse_plain,
    render,
    send_json,
)
from pgs.http.api.routes import Routes
from pgs.http.api.services import Services
from pgs.http.api.streams import OpenStreams
from pgs.http.api.unhandled import answer_unhandled, refuse_unserved_handshake
from pgs.http.api.versioning import in_version
from pgs.http.transport.asgi import App, ClientGone, Headers, Receive, Scope, Send, unless_gone
from pgs.http.transport.direct import DirectAnswer, DirectRequest
from pgs.http.transport.sockets import OpenSockets, refuse_handshake

UNLICENSED: Final = frozenset({"game_not_licensed", "game_not_licensed_in_this_environment"})
"""The reasons with which a launch without a licence is refused."""

_REFUSED: Final = frozenset((Refusal, BadRequest, Plain, Reply, Internal))
"""Types of answers that may be a refusal. Most calls cause two look-ups in this set. With
`isinstance`, a look-up would take about twenty times as long (0.3 µs instead of 0.015 µs), because
`isinstance` asks the metaclass of each of the five structs."""

_NO_RECORD: Final = _REFUSED | {Stream}
"""Types of answers that may be something other than a record."""

Found = tuple[Endpoint, dict[str, str]]
"""An endpoint, and the values of the names in its path."""


class Handled(msgspec.Struct, frozen=True):
    """A call whose answer is ready to be sent. `started` is on trio's clock."""

    verdict: Verdict
    answer: Answer
    response: Response | Stream
    headers: HeaderTuple
    started: float

    @property
    def status(self) -> int:
        return 200 if isinstance(self.response, Stream) else self.response.status


class Dispatcher:
    """An ASGI application that serves the endpoint table and the WebSockets by path.

    `fallback` serves every other plain request. `authenticators` has one for each credential of the
    table except `partner_key`; ValueError if one is missing. `sockets` is passed to the handlers of
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
        unknown = {row.credential for row in rows} - {None, "partner_key", *(authenticators or {})}
        if unknown:
            raise ValueError(f"no authenticator for: {unknown}")
        self._services = services
        self._parts = services.parts
        self._keys = KeyAuthenticator(services)
        self._routes = Routes(rows)
        self._fallback = fallback
        self._authenticators = dict(authenticators or {})
        self._websockets = {path.encode(): handler for path, handler in (websockets or {}).items()}
        self.sockets = sockets or OpenSockets()
        self._streams = OpenStreams()

    def end_streams(self) -> None:
        """End all open streams, and each later one as it begins, because the service stops."""
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
        request = Request(
            self._services, endpoint, names, scope["headers"], scope["state"]["request_id"]
        )
        try:
            now = trio.current_time()
            handled = await self._handle(request, scope["query_string"], None, receive, now)
        except ClientGone:
            return
        if isinstance(handled.response, Stream):  # 7. Respond.
            await self._streams.send(handled.response, handled.headers, receive, send)
        else:
            await send_json(send, handled.status, handled.response.body, handled.headers)
        self._tell(handled, request, scope["raw_path"], handled.status)

    @property
    def direct_paths(self) -> Collection[bytes]:
        """The paths of endpoints without variable parts."""
        return self._routes.fixed_paths

    def serves_socket(self, path: bytes, headers: Headers, subprotocols: Sequence[str]) -> bool:
        """Return whether there is a WebSocket at a path."""
        return path in self._websockets

    def find_direct(self, method: str, path: bytes) -> Found | None:
        """Return the endpoint and the values in the path.

        None if there is no such endpoint, or if it belongs to the admin API: a call of that API may
        stream, or turn out to be for another node.
        """
        found = self._routes.find(path)
        endpoint = found[0].get(method) if found else None
        if found is None or endpoint is None or endpoint.credential == "identity":
            return None
        return endpoint, found[1]

    async def answer_direct(self, found: Found, request: DirectRequest) -> DirectAnswer:
        """Answer one request of the lane, in the same steps as any other. Raises `ClientGone`.

        Only the order of the last two differs: the lane sends the answer after step 8.
        """
        endpoint, names = found
        inner = Request(self._services, endpoint, names, request.headers, request.request_id)
        handled = await self._handle(
            inner, request.query, request.body, request.receive, request.started
        )
        response = handled.response
        if not isinstance(response, Response):
            raise TypeError(f"{endpoint.path} streams, which the lane cannot")
        content = encode(response.body)
        self._tell(handled, inner, request.path, response.status)
        return DirectAnswer(response.status, (JSON_TYPE, *handled.headers), content)

    def crashed(self, method: str, path: bytes) -> DirectAnswer:
        """Return the answer to a call that was lost, and that another node may have carried out."""
        return self._unhandled(method, path, answer_to_lost)

    def unserved(self, method: str, path: bytes) -> DirectAnswer:
        """Return the answer to a call, or a handshake, that no node has begun to carry out."""
        if path in self._websockets:
            return refuse_unserved_handshake(self._services.base_url)
        return self._unhandled(method, path, answer_to_unserved)

    def _unhandled(
        self, method: str, path: bytes, choose: Callable[[Endpoint], Answer]
    ) -> DirectAnswer:
        return answer_unhandled(self._routes, self._services.base_url, method, path, choose)

    async def _handle(
        self,
        request: Request,
        query_string: bytes,
        body: bytes | None,
        receive: Receive,
        started: float,
    ) -> Handled:
        """Steps 2 to 6. `body` is None if it must still be read. Raises `ClientGone`."""
        endpoint = request.endpoint
        # 2. Authenticate.
        if endpoint.credential == "partner_key":
            verdict = self._keys.judge(endpoint, request.headers, started)
        else:
            verdict = await self._authenticate(request)
        principal = verdict.outcome
        if principal is not None and type(principal) in _REFUSED:
            answer: Answer = principal
        else:
            # 3. Read the body, where the call takes one.
            raw = b""
            if endpoint.request is not None:
                raw = await read_body(receive) if body is None else body
            # 4. Check query, body, launch and fields. 5. Handle.
            call = check(request, principal, query_string, raw)
            if not isinstance(call, CallBy):
                answer = await self._refuse_or_replay(request, principal, call, query_string, raw)
            elif endpoint.held and not endpoint.held.isdisjoint(call.query):
                # A held call is cancelled when its client leaves.
                handled = self._guarded(request, principal, endpoint.handler(call))
                answer = await unless_gone(handled, receive)
            else:
                try:  # like `_guarded`, but without another coroutine for each call
                    answer = await endpoint.handler(call)
                except Exception as error:
                    answer = answer_to_failure(request, principal, error)
        if type(answer) in _REFUSED:
            tell_of_refused(self._services, endpoint, verdict, answer)
            answer = _explained(answer, request, query_string)
        return self._render(endpoint, verdict, answer, started)

    def _tell(self, handled: Handled, request: Request, raw_path: bytes, status: int) -> None:
        """8. Count the answer, and report it to the account's live stream."""
        seconds, known = self._parts.system.now() - handled.started, handled.verdict.known
        self._services.on_request(request.endpoint.path, status, seconds)
        # Usually nobody watches. Then no event is built.
        if known is not None and self._parts.activity.has_subscribers(
            known.account.partner_id, known.key.environment
        ):
            tell_of_answered(request, known, handled.answer, raw_path, status, seconds)

    async def _serve_socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        handler = self._websockets.get(scope["raw_path"])
        if handler is None:
            await refuse_handshake(send, 404, {"error": NOTHING_HERE})
        else:
            await handler(self._services, self.sockets, scope, receive, send)

    async def _serve_elsewhere(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a path that the table lacks: a page, or a plain request for a WebSocket's path."""
        if scope["type"] == "http" and scope["raw_path"] in self._websockets:
            await refuse_plain(scope["method"], send)
        else:
            await self._fallback(scope, receive, send)

    async def _authenticate(self, request: Request) -> Verdict:
        """2. Authenticate a call of an endpoint that takes no API key; return the verdict."""
        credential = request.endpoint.credential
        if credential is None:
            return Verdict(None)
        judged = self._authenticators[credential](request)
        return Verdict(await self._guarded(request, None, judged))

    async def _refuse_or_replay(
        self,
        request: Request,
        principal: object,
        refusal: Refusal | BadRequest,
        query_string: bytes,
        raw: bytes,
    ) -> Answer:
        """Return the answer of a launch that repeats an earlier one, else the refusal."""
        endpoint = request.endpoint
        if isinstance(refusal, BadRequest) or refusal.reason not in UNLICENSED:
            return refusal
        if endpoint.is_replay is None:
            return refusal
        call = check(request, principal, query_string, raw, licensed=True)
        if not isinstance(call, CallBy):
            return refusal
        replayed = _replay_or(refusal, endpoint.is_replay, endpoint.handler, call)
        return await self._guarded(request, principal, replayed)

    async def _guarded(
        self, request: Request, principal: object, work: Awaitable[Answer]
    ) -> Answer:
        """Return what `work` returns, or the answer for the exception that it raised."""
        try:
            return await work
        except Exception as error:
            return answer_to_failure(request, principal, error)

    def _render(
        self, endpoint: Endpoint, verdict: Verdict, answer: Answer, started: float
    ) -> Handled:
        """6. Return the call with what is sent for its answer, and with the headers to add."""
        versions = self._parts.versions
        if type(answer) not in _NO_RECORD and not versions.renames:
            return Handled(verdict, answer, Response(200, answer), verdict.headers, started)
        headers, shown = verdict.headers, answer
        if isinstance(answer, Reply):
            headers += answer.headers
            shown = answer.body
        if isinstance(shown, Stream):
            return Handled(verdict, answer, shown, headers, started)
        response = render(endpoint, shown, self._services.base_url)
        if versions.renames and response.status == 200 and endpoint.credential != "session":
            version = version_of(verdict.outcome, self._services)
            body = in_version(response.body, version, versions)
            response = msgspec.structs.replace(response, body=body)
        if response.event is not None:
            self._parts.on_event(response.event)
        if response.status == 401:  # the key may have been revoked while its call was held
            headers = unauthorised(self._services)
        return Handled(verdict, answer, response, headers, started)


async def _replay_or(
    refusal: Refusal,
    is_replay: Callable[[CallBy[Any]], Awaitable[bool]],
    handler: Handler,
    call: CallBy[object],
) -> Answer:
    """Return the answer of a launch that repeats an earlier one, else the refusal."""
    return await handler(call) if await is_replay(call) else refusal


def _explained(answer: Answer, request: Request, query_string: bytes) -> Answer:
    """Return the answer; if it is a refusal, with a message about what is wrong with this call."""
    refusal = answer.body if isinstance(answer, Reply) else answer
    if not isinstance(refusal, Refusal):
        return answer
    refusal = explained(refusal, request.path, query_string)
    return msgspec.structs.replace(answer, body=refusal) if isinstance(answer, Reply) else refusal
