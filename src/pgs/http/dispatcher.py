"""The dispatcher: serves the endpoint table. Credential, budget, version, body and errors are dealt with here, once for every call."""

from collections.abc import Coroutine, Iterable
from typing import cast

import msgspec
import structlog
import trio

from pgs.actors.kernel import Crashed, Overloaded
from pgs.domain.errors import CATALOGUE, BadRequest, Refusal, message_of, refuse
from pgs.http.asgi import App, Receive, Scope, Send
from pgs.http.auth import authenticate, overloaded, unauthorised
from pgs.http.body import convert, decode_object
from pgs.http.endpoint import Answer, Call, Endpoint, Principal, Reply
from pgs.http.launch import check_launch, settle_spellings
from pgs.http.query import parse_query
from pgs.http.routes import Routes
from pgs.http.services import Services
from pgs.storage.database import StoreOutage, WriterFull

HeaderTuple = tuple[tuple[bytes, bytes], ...]

INTERNAL_MESSAGE = "Something broke on our side. Try again shortly."

log = structlog.get_logger("pgs.http")
_encode = msgspec.json.Encoder().encode


class ClientGone(Exception):
    """The client left before it could be answered."""


class Dispatcher:
    """An ASGI application: the endpoints of the table, and `fallback` for everything else."""

    def __init__(self, services: Services, table: Iterable[Endpoint], fallback: App) -> None:
        self._services = services
        self._routes = Routes(table)
        self._fallback = fallback

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        found = self._routes.find(scope["raw_path"]) if scope["type"] == "http" else None
        if found is None:
            await self._fallback(scope, receive, send)
            return
        methods, names = found
        endpoint = methods.get(scope["method"])
        if endpoint is None:
            allow = ", ".join(sorted(methods)).encode()
            await _send(send, 405, {"error": f"This path takes {allow.decode()}."}, ((b"allow", allow),))
            return
        started = trio.current_time()
        verdict = authenticate(self._services, endpoint, scope["headers"])
        answer: Answer
        if isinstance(verdict.outcome, Principal):
            try:
                raw = b"" if endpoint.request is None else await _read(receive)
                work = self._answer(endpoint, verdict.outcome, names, scope, raw)
                answer = await (_unless_gone(work, receive) if endpoint.held else work)
            except ClientGone:
                return
        else:
            answer = verdict.outcome
        status = await self._respond(send, answer, verdict.headers)
        self._services.on_request(endpoint.path, status, trio.current_time() - started)

    async def _answer(self, endpoint: Endpoint, principal: Principal, names: dict[str, str], scope: Scope, raw: bytes) -> Answer:
        request_id = scope["state"]["request_id"]
        query = parse_query(scope["query_string"], endpoint.query)
        if isinstance(query, BadRequest):
            return query
        body = self._body(endpoint, principal, raw)
        if isinstance(body, Refusal | BadRequest):
            return body
        try:
            return await endpoint.handler(Call(self._services, principal, names, query, body, request_id))
        except (Overloaded, WriterFull):
            self._services.parts.on_event("overloaded")
            return Reply(refuse("rate_limited"), overloaded(1))
        except StoreOutage as error:
            self._services.parts.on_event("read_failed")
            log.exception("read_failed", request_id=request_id, path=endpoint.path, partner_id=principal.partner_id, error=str(error))
            return refuse("registry_unavailable")
        except Crashed as error:
            log.error("actor_crashed", request_id=request_id, path=endpoint.path, partner_id=principal.partner_id, error=str(error))
            if error.noun is not None and endpoint.crash is None:  # a read failed in the actor: the same as one that fails here
                self._services.parts.on_event("read_failed")
                return refuse("registry_unavailable")
        except Exception:
            log.exception("handler_crashed", request_id=request_id, path=endpoint.path, partner_id=principal.partner_id)
        self._services.parts.on_event("handler_crashed")
        return refuse(endpoint.crash) if endpoint.crash else Internal()

    def _body(self, endpoint: Endpoint, principal: Principal, raw: bytes) -> object:
        if endpoint.request is None:
            return None
        body = decode_object(raw)
        if isinstance(body, BadRequest):
            return body
        if endpoint.launch:
            fault = check_launch(self._services, principal, body)
            if fault is not None:
                return fault
        if endpoint.spellings:
            fault = settle_spellings(body, dict(endpoint.spellings))
            if fault is not None:
                return fault
        return convert(body, endpoint.request)

    async def _respond(self, send: Send, answer: Answer, headers: HeaderTuple) -> int:
        """Send the answer; return its status."""
        if isinstance(answer, Reply):
            headers += answer.headers
            answer = answer.body
        status, body = 200, cast("object", answer)
        if isinstance(answer, Refusal):
            self._services.parts.on_event(f"refused_{answer.reason}")
            status, body = CATALOGUE[answer.reason].status, {"error": message_of(answer), "reason": answer.reason, **answer.extras}
            if status == 401:  # also of a key that was revoked while its call was held
                headers = unauthorised(self._services)
        elif isinstance(answer, BadRequest):
            self._services.parts.on_event("refused_bad_request")
            status, body = 400, {"error": answer.message}
        elif isinstance(answer, Internal):
            status, body = 500, {"error": INTERNAL_MESSAGE}
        await _send(send, status, body, headers)
        return status


class Internal(msgspec.Struct, frozen=True):
    """Something broke inside, and no reason may be told."""


async def _read(receive: Receive) -> bytes:
    chunks = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        chunks.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(chunks)


async def _unless_gone(work: Coroutine[object, object, Answer], receive: Receive) -> Answer:
    """Return what `work` returns; give it up and raise `ClientGone` when the client leaves first."""
    answer: list[Answer] = []
    async with trio.open_nursery() as nursery:

        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            nursery.cancel_scope.cancel()

        nursery.start_soon(watch)
        answer.append(await work)
        nursery.cancel_scope.cancel()
    if not answer:
        raise ClientGone
    return answer[0]


async def _send(send: Send, status: int, body: object, headers: HeaderTuple) -> None:
    content = _encode(body)
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(content)), *headers],
        }
    )
    await send({"type": "http.response.body", "body": content})
