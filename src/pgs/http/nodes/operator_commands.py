"""Carries operators' commands between the nodes of an installation.

A node sends a command to the node that owns what the command is about, with a proof made with the
key ring (`pgs.domain.node_proofs`). The first line of the body is a stamp: the time by the sender's
clock, and a random number. The receiver carries out only one command for each stamp. A command may
take minutes, longer than a connection may be silent, so the sender asks again until it gets the
answer.
"""

import re
from collections.abc import Awaitable, Callable
from typing import Final, Protocol

import msgspec
import trio

from pgs.actors.ports import NodeAnswerLost, NodeNotReached
from pgs.clock import Clock, Rng
from pgs.domain.keyring import KeyRing
from pgs.domain.node_proofs import is_command, prove_command
from pgs.domain.shards import Node
from pgs.http.nodes.answers import send_answer
from pgs.http.nodes.calls import Lost, NodeCalls, NotReached, Outgoing
from pgs.http.transport.asgi import ClientGone, Receive, Scope, Send, whole_body
from pgs.http.transport.direct import DirectAnswer
from pgs.http.transport.heads import FORWARDED

COMMANDS_PATH: Final = "/nodes/commands"
AGAIN_PATH: Final = "/nodes/commands/again"

COMMAND_BYTES: Final = (1 << 20) + 64
"""Bytes of a command with its stamp: an operator's request may have 1 MiB."""

AGE_MS: Final = 30_000
"""Milliseconds by which the stamp of a command may differ from the receiver's clock. A command
that somebody recorded on the network and sends again later is refused."""

KEPT_S: Final = 90.0
"""Seconds for which an answer is kept after its command. A stamp is accepted for at most 60 s, from
AGE_MS before its time to AGE_MS after it, so no command is carried out twice."""

KEPT_MAX: Final = 1000
"""Commands of other nodes that a node remembers at the same time. `pgs invoice assemble` sends some
ten a second, one after the other."""

HELD_S: Final = 20.0
"""Seconds for which a request for an answer is held: less than a connection may be silent."""

LONGEST_S: Final = 600.0
"""Seconds that the sender waits for an answer: as long as an operator's command may take."""

AGAIN_S: Final = 0.2
"""Seconds from an answer that broke off until the sender asks for it again."""

BROKEN_MAX: Final = 10
"""Times in a row that the sender asks without an answer before it gives up. The receiver has most
likely stopped by then."""

ENTROPY_BYTES: Final = 16
"""Bytes of randomness in a stamp: 128 bits, so that no two commands have the same."""

_STAMP: Final = re.compile(rb"([0-9]{13,15}) ([0-9a-f]{32})\n", re.ASCII)
_JSON: Final = ((b"content-type", b"application/json"), (b"cache-control", b"no-store"))


class Carrier(Protocol):
    """Carries out a command that another node has sent."""

    async def __call__(self, line: bytes, /) -> bytes:
        """Return the answer; b"" if this node does not own what the command is about."""
        ...


class _Carried:
    """A command of another node, and its answer once it has been carried out."""

    def __init__(self) -> None:
        self.ended = trio.Event()
        self.ended_at = float("inf")
        self.answer: bytes | None = None  # still None after the end of a command that was cut off


class CommandReceiver:
    """Receives commands from other nodes, and has each one carried out once."""

    def __init__(
        self,
        name: str,
        ring: Callable[[], KeyRing],
        clock: Clock,
        carry_out: Carrier,
        start: Callable[[Callable[[], Awaitable[None]]], object],
    ) -> None:
        """`name` is the name of this node. `start` runs a function in the background."""
        self._name = name
        self._ring = ring
        self._clock = clock
        self._carry_out = carry_out
        self._start = start
        self._opened_ms = clock.real_ms()
        self._known: dict[bytes, _Carried] = {}

    def takes(self, scope: Scope) -> bool:
        """Return whether a request may be a command of another node."""
        return (
            scope["type"] == "http"
            and scope["path"] in (COMMANDS_PATH, AGAIN_PATH)
            and scope["method"] == "POST"
            and scope["state"].get("forwarded") is not None
        )

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> bool:
        """Answer a command. Without a valid proof and a stamp, return False and answer nothing."""
        try:
            body = await whole_body(receive)
        except ClientGone:
            return True
        proof: str = scope["state"]["forwarded"].decode("ascii", "replace")
        if not is_command(self._ring(), proof, self._name, scope["path"], body):
            return False
        stamp = _STAMP.match(body)
        if stamp is None:
            return False
        known = self._known.get(stamp[2])
        if known is None:
            why = self._why_not(scope["path"], int(stamp[1]))
            if why is not None:
                await send_answer(scope, send, why)
                return True
            known = self._begin(stamp[2], body[stamp.end() :])
        with trio.move_on_after(HELD_S):
            await known.ended.wait()
        await send_answer(scope, send, _answer_of(known))
        return True

    def _why_not(self, path: str, at_ms: int) -> DirectAnswer | None:
        """Return why a command with a new stamp is refused; None if the command may begin."""
        if path == AGAIN_PATH:
            return _refusal(410, "The node has restarted since it got the command.")
        now_ms = self._clock.real_ms()
        if abs(now_ms - at_ms) > AGE_MS:
            apart = abs(now_ms - at_ms) // 1000
            return _refusal(409, f"the clocks of both nodes differ by {apart} s: set them")
        if at_ms < self._opened_ms:
            return _refusal(409, "it has just started, or its clock is ahead")
        now = trio.current_time()
        for stamp, carried in list(self._known.items()):
            if carried.ended_at + KEPT_S < now:
                del self._known[stamp]
        if len(self._known) >= KEPT_MAX:
            return _refusal(409, "it has too many commands of other nodes")
        return None

    def _begin(self, stamp: bytes, line: bytes) -> _Carried:
        carried = self._known[stamp] = _Carried()

        async def carry() -> None:
            try:
                carried.answer = await self._carry_out(line)
            finally:
                carried.ended_at = trio.current_time()
                carried.ended.set()

        self._start(carry)
        return carried


class CommandCalls:
    """Sends commands to other nodes. It implements `NodesPort`."""

    def __init__(
        self, calls: NodeCalls, ring: Callable[[], KeyRing], clock: Clock, rng: Rng
    ) -> None:
        self._calls = calls
        self._ring = ring
        self._clock = clock
        self._rng = rng

    async def carry_out(self, node: Node, line: bytes) -> bytes:
        """Return a node's answer to a command. Raises `NodeNotReached` and `NodeAnswerLost`."""
        stamp = f"{self._clock.real_ms()} {self._rng.bytes(ENTROPY_BYTES).hex()}\n"
        body = stamp.encode() + line
        path, broken = COMMANDS_PATH, 0
        give_up_at = trio.current_time() + LONGEST_S
        while trio.current_time() < give_up_at:
            try:
                status, _, content = await self._calls.whole(node, self._request(node, path, body))
            except NotReached:
                if path == COMMANDS_PATH:
                    raise NodeNotReached("it cannot be reached") from None
                status, content = 0, b""
            except Lost:
                path, status, content = AGAIN_PATH, 0, b""
            if status == 200 and not content:
                raise NodeNotReached("it does not own what the command is about")
            if status == 200:
                return content
            if status not in (0, 202):
                raise _error(path, status, content)
            if status == 0:
                broken += 1
                if broken == BROKEN_MAX:
                    break
                await trio.sleep(AGAIN_S)
            else:
                path, broken = AGAIN_PATH, 0
        raise NodeAnswerLost

    def _request(self, node: Node, path: str, body: bytes) -> Outgoing:
        proof = prove_command(self._ring(), node.name, path, body)
        headers = [
            (b"host", node.address.encode()),
            (b"content-type", b"application/json"),
            (FORWARDED, proof.encode()),
        ]
        return Outgoing("POST", path.encode(), headers, body)


def _answer_of(carried: _Carried) -> DirectAnswer:
    if not carried.ended.is_set():
        return DirectAnswer(202, _JSON, b"")
    if carried.answer is None:
        return _refusal(410, "The node was stopped while it carried the command out.")
    return DirectAnswer(200, _JSON, carried.answer)


def _refusal(status: int, why: str) -> DirectAnswer:
    return DirectAnswer(status, _JSON, msgspec.json.encode({"error": why}))


def _error(path: str, status: int, content: bytes) -> NodeNotReached | NodeAnswerLost:
    if path == AGAIN_PATH or status == 410:
        return NodeAnswerLost()
    if status != 409:
        return NodeNotReached(
            f"it does not take the command (status {status}): its key ring or its version may "
            "be another one"
        )
    try:
        return NodeNotReached(msgspec.json.decode(content, type=dict[str, str])["error"])
    except (msgspec.MsgspecError, KeyError):
        return NodeNotReached("it refuses the command")
