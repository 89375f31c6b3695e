"""An application with a row for each kind of credential."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import trio

from pgs.actors.kernel.mail import Crashed
from pgs.app import open_core
from pgs.config import Config
from pgs.domain.errors import BadRequest, refuse
from pgs.http.api.auth import overloaded
from pgs.http.api.dispatcher import Dispatcher
from pgs.http.api.endpoint import (
    Answer,
    CallBy,
    Credential,
    Endpoint,
    Plain,
    Reply,
    Request,
    Stream,
    Write,
)
from pgs.http.api.routes import body_limits
from pgs.http.api.services import Services
from pgs.http.pages import make_pages
from pgs.http.transport.accepted_socket import AcceptedSocket
from pgs.http.transport.asgi import Receive, Scope, Send
from pgs.http.transport.edge import Edge
from pgs.http.transport.sockets import OpenSockets, serve_socket
from pgs.storage.transactions import StoreOutage
from tests.http.raw import ServeApp, Server, raw_request, serving
from tests.http.sockets import LIMITS, PROTOCOL

DEFAULT = 100


LONG_UID = "u/" + "é" * 120


class Person(msgspec.Struct, frozen=True):
    """The caller that the authenticator below returns."""

    name: str


class Echo(msgspec.Struct, frozen=True, rename="camel"):
    who: str | None
    words: dict[str, str]


class Body(msgspec.Struct, frozen=True):
    what: str


OUTCOMES: dict[bytes, msgspec.Struct] = {
    b"refused": refuse("role_forbidden"),
    b"signed out": refuse("sign_in_required"),
    b"nobody": Plain(401, "This token is not valid."),
    b"closed": refuse("registry_unavailable"),
    b"locked": Reply(refuse("step_up_locked"), overloaded(7)),
    b"malformed": BadRequest("No."),
}


RAISED: dict[bytes, Exception] = {
    b"outage": StoreOutage("x"),
    b"bug": KeyError("x"),
    b"crash": Crashed("x"),
}


async def by_name(request: Request, /) -> msgspec.Struct:
    """An authenticator. The header Authorization names the caller, the outcome or the exception."""
    await trio.lowlevel.checkpoint()
    said = b"".join(value for name, value in request.headers if name == b"authorization")
    if said in RAISED:
        raise RAISED[said]
    return OUTCOMES.get(said) or Person(f"{said.decode()} for {request.endpoint.path}")


async def return_caller(call: CallBy[Person | None]) -> Answer:
    return Echo(call.principal.name if call.principal else None, dict(call.path))


async def return_body(call: CallBy[Person]) -> Answer:
    return Echo(
        call.body.what[:10],
        {name.decode(): value.decode() for name, value in call.headers if name == b"if-match"},
    )


async def refuse_unenrolled(call: CallBy[Person]) -> Answer:
    return refuse("totp_not_enrolled")


async def stream_events(call: CallBy[Person]) -> Answer:
    async def produce(write: Write) -> None:
        try:
            for number in range(3):
                await write(b"data: %d\n\n" % number)
            if call.query.get("end") is None:
                await trio.sleep_forever()
        finally:
            ENDED.append(call.request_id)

    return Stream("text/event-stream", produce)


ENDED: list[str] = []


def _row(
    method: Any, path: str, handler: Any, credential: Credential | None, **more: Any
) -> Endpoint:
    return Endpoint(
        method=method,
        path=path,
        handler=handler,
        response=Echo,
        summary="x",
        credential=credential,
        **more,
    )


TABLE = (
    _row("GET", "/partner/admin/account", return_caller, "identity"),
    _row("GET", "/partner/admin/members/{uid}", return_caller, "identity"),
    _row(
        "PUT",
        "/partner/admin/theme/{env}",
        return_body,
        "identity",
        request=Body,
        body_bytes=2 * DEFAULT,
    ),
    _row("POST", "/partner/admin/keys", return_body, "identity", request=Body),
    _row("GET", "/partner/admin/unenrolled", refuse_unenrolled, "identity"),
    _row(
        "GET",
        "/partner/admin/verify",
        refuse_unenrolled,
        "identity",
        elsewhere=("totp_not_enrolled",),
    ),
    _row("GET", "/partner/admin/live", stream_events, "identity", query=frozenset({"end"})),
    _row("GET", "/game/session", return_caller, "session", crash="registry_unavailable"),
    _row("GET", "/open", return_caller, None),
)


async def echo(session: AcceptedSocket) -> None:
    while True:
        session.send(await session.receive())


async def play(
    services: Services, sockets: OpenSockets, scope: Scope, receive: Receive, send: Send
) -> None:
    assert services.base_url == "http://h"
    await serve_socket(
        scope, receive, send, subprotocol=PROTOCOL, handler=echo, limits=LIMITS, sockets=sockets
    )


class AppClient(msgspec.Struct, frozen=True):
    server: Server
    app: Dispatcher
    sockets: OpenSockets

    async def ask(
        self, line: str, who: str = "ann", *headers: str, body: bytes = b""
    ) -> tuple[int, dict[str, str], Any]:
        """Return the answer to one request on a connection of its own."""
        more = [
            f"Authorization: {who}",
            *headers,
            *([f"Content-Length: {len(body)}"] if body else []),
        ]
        async with await self.server.client() as client:
            answer = await client.ask(raw_request(f"{line} HTTP/1.1", *more) + body)
            return answer.status, answer.headers, json.loads(answer.body)


@asynccontextmanager
async def open_app_client(serve_app: ServeApp, folder: Path) -> AsyncIterator[AppClient]:
    config = Config(data_dir=folder)
    sockets = OpenSockets()
    async with open_core(config, inline=True) as core:
        app = Dispatcher(
            Services(core, "http://h"),
            TABLE,
            make_pages(),
            authenticators={"identity": by_name, "session": by_name},
            websockets={"/game/socket": play},
            sockets=sockets,
        )
        edge = Edge(
            app,
            new_request_id=lambda: "req_1",
            current_version=1,
            body_limit=body_limits(TABLE, DEFAULT),
        )
        async with serving(serve_app, edge) as server:
            yield AppClient(server, app, sockets)
