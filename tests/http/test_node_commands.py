"""Operators' commands between two nodes: who may send them, and that each is done once."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpcore
import msgspec
import pytest
import trio

from pgs.actors.ports import NodeAnswerLost, NodeNotReached
from pgs.clock import SystemClock, SystemRng
from pgs.demo.pool import ConnectionPool
from pgs.domain.keyring import KeyRing, new_ring
from pgs.domain.node_proofs import is_command, prove_command, prove_forward
from pgs.domain.shards import Node
from pgs.http.nodes import operator_commands
from pgs.http.nodes.calls import NodeCalls
from pgs.http.nodes.operator_commands import AGAIN_PATH, AGE_MS, COMMANDS_PATH, CommandCalls
from tests.journeys.billed import SetClock
from tests.journeys.nodes import TIMEOUTS, RunningNode, breaking_server, running_node
from tests.journeys.process import free_port

OTHER_RING = new_ring(b"k" * 6, b"s" * 32)
NEW = {"partnerId": "acme", "name": "Acme", "adminEmail": "admin@acme.example"}
CREATE = msgspec.json.encode({"command": "partner.create", "args": NEW}) + b"\n"


@pytest.fixture
async def node(tmp_path: Path) -> AsyncIterator[RunningNode]:
    async with running_node(tmp_path, "n1") as running:
        yield running


@pytest.fixture
async def calls() -> AsyncIterator[NodeCalls]:
    opened = NodeCalls()
    yield opened
    await opened.aclose()


def ring_of(node: RunningNode) -> KeyRing:
    return node.service.core.parts.ring


def sender(calls: NodeCalls, ring: KeyRing, **how: SetClock) -> CommandCalls:
    return CommandCalls(calls, lambda: ring, how.get("clock") or SystemClock(), SystemRng())


def partners(node: RunningNode) -> list[str]:
    return [account.partner_id for account in node.service.core.parts.registry.accounts()]


def stamped(line: bytes, at_ms: int | None = None) -> bytes:
    at = SystemClock().real_ms() if at_ms is None else at_ms
    return b"%d %s\n" % (at, SystemRng().bytes(16).hex().encode()) + line


async def post(node: RunningNode, path: str, body: bytes, proof: str | None) -> httpcore.Response:
    headers = [] if proof is None else [("X-Pgs-Forwarded", proof)]
    async with ConnectionPool() as pool:
        return await pool.request(
            "POST",
            f"http://{node.node.address}{path}",
            headers=headers,
            content=body,
            extensions=TIMEOUTS,
        )


async def test_a_node_carries_out_what_another_holder_of_the_ring_sends(
    node: RunningNode, calls: NodeCalls
) -> None:
    answer = await sender(calls, ring_of(node)).carry_out(node.node, CREATE)
    assert msgspec.json.decode(answer)["result"]["partnerId"] == "acme"
    assert partners(node) == ["acme"]


async def test_whoever_lacks_the_ring_finds_nothing_there(node: RunningNode) -> None:
    ring, body = ring_of(node), stamped(CREATE)
    good = prove_command(ring, "n1", COMMANDS_PATH, body)
    assert is_command(ring, good, "n1", COMMANDS_PATH, body)
    nothing = await post(node, "/nodes/nothing", body, None)
    for proof in (
        None,
        "",
        "x" * 500,
        good[:-1] + ("A" if good[-1] != "A" else "B"),
        prove_command(OTHER_RING, "n1", COMMANDS_PATH, body),
        prove_command(ring, "n2", COMMANDS_PATH, body),
        prove_command(ring, "n1", AGAIN_PATH, body),
        prove_command(ring, "n1", COMMANDS_PATH, body + b" "),
        prove_forward(ring, "n1", "req_1", "POST", COMMANDS_PATH.encode(), body),
    ):
        answer = await post(node, COMMANDS_PATH, body, proof)
        assert (answer.status, answer.content) == (404, nothing.content), proof
    assert partners(node) == []


async def test_a_command_without_a_stamp_is_not_carried_out(node: RunningNode) -> None:
    proof = prove_command(ring_of(node), "n1", COMMANDS_PATH, CREATE)
    assert (await post(node, COMMANDS_PATH, CREATE, proof)).status == 404
    assert partners(node) == []


async def test_a_command_that_is_sent_again_is_done_once_and_gets_the_same_answer(
    node: RunningNode,
) -> None:
    ring, body = ring_of(node), stamped(CREATE)
    proof = prove_command(ring, "n1", COMMANDS_PATH, body)
    first = await post(node, COMMANDS_PATH, body, proof)
    assert b'"result"' in first.content
    again = prove_command(ring, "n1", AGAIN_PATH, body)
    for path, told in ((COMMANDS_PATH, proof), (AGAIN_PATH, again)):
        assert (await post(node, path, body, told)).content == first.content
    anew = await post(
        node,
        COMMANDS_PATH,
        other := stamped(CREATE),
        prove_command(ring, "n1", COMMANDS_PATH, other),
    )
    assert b'"refusal"' in anew.content  # the partner exists


async def test_a_command_from_another_time_is_refused(node: RunningNode, calls: NodeCalls) -> None:
    now = SystemClock().real_ms()
    clock = SetClock(2020, 1, 1)
    for seconds in (-AGE_MS // 1000 - 60, AGE_MS // 1000 + 60):
        clock.at = now // 1000 + seconds
        with pytest.raises(NodeNotReached, match="the clocks of both nodes differ by"):
            await sender(calls, ring_of(node), clock=clock).carry_out(node.node, CREATE)
    clock.at = now // 1000 - 20  # before the node's start: it may have been carried out then
    with pytest.raises(NodeNotReached, match="just started"):
        await sender(calls, ring_of(node), clock=clock).carry_out(node.node, CREATE)
    assert partners(node) == []


async def test_a_node_with_another_ring_takes_no_command(
    node: RunningNode, calls: NodeCalls
) -> None:
    with pytest.raises(NodeNotReached, match=r"status 404.*key ring"):
        await sender(calls, OTHER_RING).carry_out(node.node, CREATE)


async def test_a_node_that_is_down_was_not_reached(calls: NodeCalls) -> None:
    with pytest.raises(NodeNotReached, match="cannot be reached"):
        await sender(calls, OTHER_RING).carry_out(Node("n1", f"127.0.0.1:{free_port()}"), CREATE)


async def test_an_answer_that_never_comes_is_lost(
    calls: NodeCalls, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operator_commands, "AGAIN_S", 0.001)
    async with breaking_server() as address:
        with pytest.raises(NodeAnswerLost):
            await sender(calls, OTHER_RING).carry_out(Node("n1", address), CREATE)


async def test_a_long_command_is_asked_for_until_it_has_ended(
    tmp_path: Path, calls: NodeCalls, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended, asked = trio.Event(), []

    async def slow(core: object, line: bytes) -> bytes:
        asked.append(line)
        await ended.wait()
        return b'{"result":{}}\n'

    monkeypatch.setattr(operator_commands, "HELD_S", 0.02)
    monkeypatch.setattr("pgs.public.execute_for_node", slow)
    answers = []
    async with running_node(tmp_path, "n1") as node, trio.open_nursery() as nursery:

        async def send() -> None:
            answers.append(await sender(calls, ring_of(node)).carry_out(node.node, CREATE))

        nursery.start_soon(send)
        await trio.sleep(0.2)
        assert not answers
        ended.set()
    assert (answers, asked) == ([b'{"result":{}}\n'], [CREATE])


async def test_a_command_that_broke_off_may_have_been_done(
    tmp_path: Path, calls: NodeCalls, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def breaks(core: object, line: bytes) -> bytes:
        raise RuntimeError("cut off")

    monkeypatch.setattr("pgs.public.execute_for_node", breaks)
    async with running_node(tmp_path, "n1") as node:
        with pytest.raises(NodeAnswerLost):
            await sender(calls, ring_of(node)).carry_out(node.node, CREATE)


async def test_a_node_that_is_no_owner_says_that_nothing_was_done(
    tmp_path: Path, calls: NodeCalls, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def elsewhere(core: object, line: bytes) -> bytes:
        return b""

    monkeypatch.setattr("pgs.public.execute_for_node", elsewhere)
    async with running_node(tmp_path, "n1") as node:
        with pytest.raises(NodeNotReached, match="does not own"):
            await sender(calls, ring_of(node)).carry_out(node.node, CREATE)


async def test_a_node_that_has_started_anew_does_not_know_what_became_of_a_command(
    node: RunningNode,
) -> None:
    body = stamped(CREATE)
    proof = prove_command(ring_of(node), "n1", AGAIN_PATH, body)
    assert (await post(node, AGAIN_PATH, body, proof)).status == 410
    assert partners(node) == []
