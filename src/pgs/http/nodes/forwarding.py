"""Serves the requests of this node's partners, and forwards all others to their shard's owner.

A forwarded request carries a proof that a node forwarded it (`pgs.domain.node_proofs`). The
receiver checks the request as if it had come from outside. A receiver that is not the owner asks
the client to try again, so that no request is forwarded twice.
"""

from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Any, Protocol

import msgspec
import trio

from pgs.actors.kernel.mail import NotOwned
from pgs.domain.keyring import KeyRing
from pgs.domain.node_proofs import id_of_forwarded, prove_forward
from pgs.domain.shards import Node
from pgs.http.nodes.answers import OWNER, send_answer, try_again
from pgs.http.nodes.calls import Incoming, Lost, NodeCalls, NotReached, Outgoing
from pgs.http.nodes.operator_commands import CommandReceiver
from pgs.http.nodes.owners import NotHere, Owners
from pgs.http.nodes.routes import credential_of, shard_of_request
from pgs.http.nodes.sockets import ForwardedSocket
from pgs.http.transport.asgi import (
    ClientGone,
    Headers,
    OnEvent,
    Receive,
    Scope,
    Send,
    ignore_event,
    unless_gone,
    whole_body,
)
from pgs.http.transport.direct import DirectAnswer, DirectApp, DirectRequest
from pgs.http.transport.heads import FORWARDED


class NodeApp(DirectApp, Protocol):
    """An application that serves the partners of this node."""

    async def __call__(self, scope: Any, receive: Any, send: Any, /) -> None:
        """Serve one ASGI scope.

        Raises `NotHere`, before it has read the body or answered, if this node does not own the
        partner. Raises `NotOwned`, before it has changed or answered anything, if this node has
        given the partner up meanwhile.
        """
        ...

    def crashed(self, method: str, path: bytes, /) -> DirectAnswer:
        """Return the answer to a call that may or may not have been carried out."""
        ...

    def unserved(self, method: str, path: bytes, /) -> DirectAnswer:
        """Return the answer to a call, or a handshake, that no node has begun to carry out."""
        ...


class Forwarding:
    """The application of one of several nodes; `app` serves the partners of this node.

    `ring` returns the key ring that all nodes share. `on_event` is told of `forwarded`, of
    `forward_refused` (a forwarded request whose shard this node does not own),
    `forward_ownerless`, `forward_not_reached` and `forward_lost`. `commands` receives the
    operators' commands that other nodes send. `stopping` waits until this node stops, and returns
    the close code for the clients of forwarded sockets.
    """

    def __init__(
        self,
        app: NodeApp,
        owners: Owners,
        ring: Callable[[], KeyRing],
        calls: NodeCalls,
        on_event: OnEvent = ignore_event,
        commands: CommandReceiver | None = None,
        stopping: Callable[[], Awaitable[int]] = trio.sleep_forever,
    ) -> None:
        self._app = app
        self._owners = owners
        self._ring = ring
        self._calls = calls
        self._on_event = on_event
        self._commands = commands
        self._stopping = stopping

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI scope, here or at its owner."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        if self._commands is not None and self._commands.takes(scope):
            if not await self._commands.serve(scope, receive, send):
                await self._app(scope, receive, send)  # the application answers 404
            return
        shard = shard_of_request(scope["raw_path"], scope["headers"], _offered(scope))
        owner = self._owners.me if shard is None else self._owners.owner_of(shard)
        if owner is self._owners.me:
            request_id = self._id_of_forwarded(scope)
            if request_id is not None:  # the caller is shown this id
                scope["state"]["request_id"] = request_id
            try:
                await self._app(scope, receive, send)
                return
            except NotHere as elsewhere:
                owner = self._owners.owner_of(elsewhere.shard)
            except NotOwned:
                self._on_event("forward_ownerless")
                await send_answer(scope, send, self._try_again(scope))
                return
        try:
            answer = await self._hand_on(owner, scope, receive, send)
        except ClientGone:
            return
        if answer is not None:
            await send_answer(scope, send, answer)

    @property
    def direct_paths(self) -> Collection[bytes]:
        """The paths without variable parts that the application serves."""
        return self._app.direct_paths

    def serves_socket(self, path: bytes, headers: Headers, subprotocols: Sequence[str]) -> bool:
        """Return whether this node itself serves the WebSocket that a handshake asks for.

        The path must have a WebSocket. This node must own the partner of the session token that the
        handshake carries.
        """
        shard = shard_of_request(path, headers, subprotocols)
        mine = shard is not None and self._owners.owner_of(shard) is self._owners.me
        return mine and self._app.serves_socket(path, headers, subprotocols)

    def find_direct(self, method: str, path: bytes) -> Any | None:
        """Return what `answer_direct` needs, or None if such requests must come over ASGI."""
        found = self._app.find_direct(method, path)
        return None if found is None else (method, found)

    async def answer_direct(self, found: Any, request: DirectRequest) -> DirectAnswer:
        """Return this node's or the owner's answer to a request of the lane.

        Raises `ClientGone`.
        """
        method, inner = found
        shard = shard_of_request(request.path, request.headers)
        owner = self._owners.me if shard is None else self._owners.owner_of(shard)
        target = _target(request.path, request.query)
        request_id = None
        if request.forwarded is not None:
            credential = credential_of(request.headers)
            request_id = self._proven_id(request.forwarded, method, target, credential)
        if owner is self._owners.me:
            if request_id is not None:  # the caller is shown this id
                request = msgspec.structs.replace(request, request_id=request_id)
            try:
                return await self._app.answer_direct(inner, request)
            except NotOwned:
                self._on_event("forward_ownerless")
                return try_again(self._app.unserved(method, request.path))
        if owner is None:
            self._on_event("forward_ownerless")
            return try_again(self._app.unserved(method, request.path))
        if request_id is not None:
            return self._refuse(owner, self._app.unserved(method, request.path))
        proof = self._proof(owner, request.request_id, method, target, request.headers)
        outgoing = Outgoing(method, target, [*request.headers, proof], request.body)
        try:
            status, headers, content = await unless_gone(
                self._calls.whole(owner, outgoing), request.receive
            )
        except NotReached:
            self._on_event("forward_not_reached")
            return try_again(self._app.unserved(method, request.path))
        except Lost:
            self._on_event("forward_lost")
            return self._app.crashed(method, request.path)
        self._on_event("forwarded")
        return DirectAnswer(status, (*headers, _named(owner)), content)

    async def _hand_on(
        self, owner: Node | None, scope: Scope, receive: Receive, send: Send
    ) -> DirectAnswer | None:
        """Forward a request. Return None once the owner's answer was sent, else this node's answer.

        Raises `ClientGone`, and `Lost` if the owner's answer broke off after it had begun.
        """
        if owner is None:
            self._on_event("forward_ownerless")
            return self._try_again(scope)
        if self._id_of_forwarded(scope) is not None:
            return self._refuse(owner, self._app.unserved(*_asked(scope)))
        if scope["type"] == "websocket":
            return await self._hand_on_socket(owner, scope, receive, send)
        method = scope["method"]
        body = await whole_body(receive)
        target = _target(scope["raw_path"], scope["query_string"])
        outgoing = Outgoing(method, target, self._proven(owner, scope), body)
        passing = _Passing(send, owner)
        try:
            await unless_gone(passing.run(self._calls, outgoing), receive)
        except NotReached:
            self._on_event("forward_not_reached")
            return self._try_again(scope)
        except Lost:
            self._on_event("forward_lost")
            if passing.begun:
                raise  # the edge then ends the connection, so that the client sees the break
            return self._app.crashed(method, scope["raw_path"])
        self._on_event("forwarded")
        return None

    async def _hand_on_socket(
        self, owner: Node, scope: Scope, receive: Receive, send: Send
    ) -> DirectAnswer | None:
        target = _target(scope["raw_path"], scope["query_string"])
        headers = self._proven(owner, scope)
        socket = ForwardedSocket(
            owner, target, headers, _offered(scope), _named(owner), self._stopping
        )
        try:
            await socket.run(receive, send)
        except NotReached:
            self._on_event("forward_not_reached")
            return self._try_again(scope)
        self._on_event("forwarded")
        return None

    def _proven(self, owner: Node, scope: Scope) -> Headers:
        """Return the headers of a request with the proof that it is forwarded to `owner`."""
        headers, target = scope["headers"], _target(scope["raw_path"], scope["query_string"])
        request_id, method = scope["state"]["request_id"], scope.get("method", "GET")
        return [
            *headers,
            self._proof(owner, request_id, method, target, headers, _offered(scope)),
        ]

    def _proof(
        self,
        owner: Node,
        request_id: str,
        method: str,
        target: bytes,
        headers: Headers,
        subprotocols: tuple[str, ...] = (),
    ) -> tuple[bytes, bytes]:
        credential = credential_of(headers, subprotocols)
        proof = prove_forward(self._ring(), owner.name, request_id, method, target, credential)
        return (FORWARDED, proof.encode())

    def _id_of_forwarded(self, scope: Scope) -> str | None:
        """Return the id that the forwarding node gave a request; None without a valid proof."""
        return self._proven_id(
            scope["state"].get("forwarded"),
            scope.get("method", "GET"),
            _target(scope["raw_path"], scope["query_string"]),
            credential_of(scope["headers"], _offered(scope)),
        )

    def _proven_id(
        self, proof: bytes | None, method: str, target: bytes, credential: bytes
    ) -> str | None:
        if proof is None:
            return None
        text, me = proof.decode("ascii", "replace"), self._owners.me.name
        return id_of_forwarded(self._ring(), text, me, method, target, credential)

    def _try_again(self, scope: Scope) -> DirectAnswer:
        return try_again(self._app.unserved(*_asked(scope)))

    def _refuse(self, owner: Node, unserved: DirectAnswer) -> DirectAnswer:
        """Return the answer to a forwarded request whose shard this node does not own."""
        self._on_event("forward_refused")
        refusal = try_again(unserved)
        return msgspec.structs.replace(refusal, headers=(*refusal.headers, _named(owner)))


class _Passing:
    """Passes on one answer of another node, piece by piece. `begun`: its head has been sent."""

    def __init__(self, send: Send, owner: Node) -> None:
        self.begun = False
        self._send = send
        self._owner = owner

    async def run(self, calls: NodeCalls, outgoing: Outgoing) -> None:
        async with calls.exchange(self._owner, outgoing) as answer:
            await self._pass_on(answer)

    async def _pass_on(self, answer: Incoming) -> None:
        headers = [*answer.headers, _named(self._owner)]
        if answer.length is not None:
            headers.append((b"content-length", b"%d" % answer.length))
        self.begun = True
        await self._send(
            {"type": "http.response.start", "status": answer.status, "headers": headers}
        )
        async for piece in answer.pieces:
            await self._send({"type": "http.response.body", "body": piece, "more_body": True})
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})


def _offered(scope: Scope) -> tuple[str, ...]:
    return tuple(scope.get("subprotocols", ()))


def _asked(scope: Scope) -> tuple[str, bytes]:
    """Return the method and the path of a request; a handshake is a GET."""
    return scope.get("method", "GET"), scope["raw_path"]


def _target(path: bytes, query: bytes) -> bytes:
    return path + b"?" + query if query else path


def _named(owner: Node) -> tuple[bytes, bytes]:
    return (OWNER, owner.name.encode())
