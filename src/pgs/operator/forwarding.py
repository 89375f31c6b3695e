"""Carries out a command, here or elsewhere, at the node that owns what the command is about."""

from collections.abc import Collection
from typing import Final, Protocol

import trio

from pgs.actors.core import Core
from pgs.actors.maintenance.registers import follow_others
from pgs.actors.ports import NodeAnswerLost, NodeNotReached
from pgs.domain.shards import SHARDS, Node, shard_of, shard_of_platform
from pgs.operator.command import A, OperatorCommand, R
from pgs.operator.messages import Answer, Failed, answer_to, decode_answer, encode_request

OWNER_S: Final = 6.0
"""Seconds for which a command waits for an owner that can be reached: longer than the other
nodes take to notice that a node is gone, and to take its shards over."""

LOOK_S: Final = 0.1
"""Seconds between two looks for an owner: too short for people to notice."""


class NotHere(Exception):
    """A command came from another node, and this node does not own what the command is about."""


class AboutPartner(Protocol):
    """Arguments that name the partner that a command is about."""

    @property
    def partner_id(self) -> str: ...


async def of_partner(core: Core, args: AboutPartner) -> int:
    """Return the shard of the partner that the arguments name."""
    return shard_of(args.partner_id)


async def of_platform(core: Core, args: object) -> int:
    """Return the shard whose owner changes tiers and terms."""
    return shard_of_platform()


async def answer_at_owner(
    core: Core, command: OperatorCommand[A, R], args: A, *, patient: bool = True
) -> Answer:
    """Return the answer to a command, from the node that owns what the command is about.

    If `patient`, wait up to `OWNER_S` for an owner that can be reached. Raises `NotHere` if another
    node sent the command and a node other than this one is the owner. Also raises what the command
    raises.
    """
    if core.shards is None:
        return answer_to(await command.run(core, args))
    # Another command may have been carried out at another node a moment ago.
    await follow_others(core.parts, core.directory)
    shard = None if command.about is None else await command.about(core, args)
    if shard is None:
        return answer_to(await command.run(core, args))
    give_up_at = trio.current_time() + (OWNER_S if patient else 0)
    while True:
        owner = core.shards.owner_of(shard)
        if owner is core.shards.me:
            return answer_to(await command.run(core, args))
        if owner is not None and core.nodes is None:
            raise NotHere
        found = await _ask(core, owner, command.name, args)
        if not isinstance(found, str):
            return found
        if trio.current_time() >= give_up_at:
            return Failed(found)
        await trio.sleep(LOOK_S)


async def _ask(core: Core, owner: Node | None, name: str, args: object) -> Answer | str:
    """Return the owner's answer, or a sentence that says why the owner could not be asked."""
    if owner is None or core.nodes is None:
        return (
            "No node owns what the command is about at the moment. Nothing was done: look at "
            "`pgs node list`, and try again."
        )
    try:
        return decode_answer(await core.nodes.carry_out(owner, encode_request(name, args)))
    except NodeNotReached as error:
        return (
            f"Node {owner.name} ({owner.address}) owns what the command is about, and {error}. "
            "Nothing was done: look at `pgs node list`, and try again."
        )
    except (NodeAnswerLost, ValueError):
        return Failed(
            f"Node {owner.name} ({owner.address}) took the command, and its answer was lost. It "
            "may or may not have been done: look at the current state before you repeat it."
        )


async def answers_of_others(core: Core, name: str, args: object) -> dict[str, Answer]:
    """Return the answers of all other nodes that own shards, by the node's name.

    Each node is asked once and carries the command out for its own partners. If some shards have no
    owner, the name `nobody` has a `Failed` that says so. The result is empty for a service without
    other nodes, and for a command that another node has sent.
    """
    if core.shards is None or core.nodes is None:
        return {}
    owners = {core.shards.owner_of(shard) for shard in range(SHARDS)} - {core.shards.me}
    found = await _ask_all(core, [node for node in owners if node is not None], name, args)
    if None in owners:
        found["nobody"] = Failed(
            "Some shards have no owner at the moment: look at `pgs node list`."
        )
    return found


async def answers_of_running(core: Core, name: str, args: object) -> dict[str, Answer] | None:
    """Return the answers of all other nodes that run, by the node's name, each asked once.

    Return None if this node does not know which nodes run. The result is empty without other nodes,
    and for a command that another node has sent.
    """
    if core.shards is None or core.nodes is None:
        return {}
    running = core.shards.running
    return None if running is None else await _ask_all(core, running, name, args)


async def _ask_all(
    core: Core, nodes: Collection[Node], name: str, args: object
) -> dict[str, Answer]:
    found: dict[str, Answer] = {}
    for node in sorted(nodes, key=lambda node: node.name):
        answer = await _ask(core, node, name, args)
        found[node.name] = Failed(answer) if isinstance(answer, str) else answer
    return found
