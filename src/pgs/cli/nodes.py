"""`pgs node …`: the nodes of an installation on PostgreSQL."""

from collections.abc import Callable
from typing import Annotated, Final, TypeVar

import trio
import typer
from rich.console import Group, RenderableType

from pgs.cli.errors import REFUSED, expected, stop
from pgs.cli.options import ConfigFile, DataDir, Json, Yes, make_sure, settings, show
from pgs.cli.tables import add_row, cell, new_table
from pgs.domain.plurals import counted
from pgs.storage import engines
from pgs.storage.nodes import NodeRuns, Nodes, NodeSeen, NoSuchNode

T = TypeVar("T")

LOOK_AGAIN_S: Final = 0.2
"""Seconds between two looks at a node that hands its shards over: short for a person who waits."""

node = typer.Typer(no_args_is_help=True, help="See, drain, undrain and remove the nodes.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="The node's PGS_NODE_NAME.")]


@node.command("list")
def list_nodes(as_json: Json = False, config: ConfigFile = None, data: DataDir = None) -> None:
    """List the nodes that have started, and the shards that they own now."""
    with expected():
        seen = engines.nodes_of(settings(config, data))
    show(seen, _table, as_json=as_json)


@node.command("drain")
def drain(
    name: Name,
    wait: Annotated[
        int,
        typer.Option(
            "--wait",
            metavar="SECONDS",
            min=0,
            max=3600,
            help="How long to wait until the node owns no shard; 0: do not wait.",
        ),
    ] = 30,
    as_json: Json = False,
    config: ConfigFile = None,
    data: DataDir = None,
) -> None:
    """Make a node hand its shards over to the others, and take none until `pgs node undrain`.

    The node stays drained when it is restarted. The exit code is 1 if it still owns shards after
    the wait.
    """
    with expected():
        loaded = settings(config, data)
        _known(lambda: engines.mark_node(loaded, name, draining=True), name)
        seen = trio.run(_until_drained, lambda: engines.nodes_of(loaded), name, wait)
    show(seen, lambda seen: _drained(seen, name), as_json=as_json)
    left = seen.find(name)
    if wait and left is not None and left.shards:
        raise stop(
            f"node {name} still owns {counted(len(left.shards), 'shard')}. It stays marked, and "
            "hands over the rest as soon as another node can take it: `pgs node list` shows which "
            "nodes are up.",
            REFUSED,
        )


@node.command("undrain")
def undrain(
    name: Name, as_json: Json = False, config: ConfigFile = None, data: DataDir = None
) -> None:
    """Let a node take shards again."""
    with expected():
        loaded = settings(config, data)
        seen = _known(lambda: engines.mark_node(loaded, name, draining=False), name)
    show(
        seen,
        lambda _: cell(f"Node {name} takes shards again, as soon as it runs."),
        as_json=as_json,
    )


@node.command("remove")
def remove(
    name: Name,
    yes: Yes = False,
    as_json: Json = False,
    config: ConfigFile = None,
    data: DataDir = None,
) -> None:
    """Remove a stopped node, which will not run again, from the list.

    The other nodes take the shards of a stopped node by themselves. If the removed node does start
    again, it is listed again.
    """
    make_sure(f"This removes node {name} from the list.", yes=yes, as_json=as_json)
    with expected():
        loaded = settings(config, data)
        try:
            seen = _known(lambda: engines.remove_node(loaded, name), name)
        except NodeRuns:
            raise stop(
                f"node {name} runs. Drain it, stop it, and then remove it; `pgs node list` shows "
                "which nodes run.",
                REFUSED,
            ) from None
    show(seen, lambda _: cell(f"Node {name} is removed."), as_json=as_json)


def _known(work: Callable[[], T], name: str) -> T:
    try:
        return work()
    except NoSuchNode:
        raise stop(
            f"there is no node {name}: `pgs node list` shows those that have started.", REFUSED
        ) from None


async def _until_drained(look: Callable[[], Nodes], name: str, wait_s: float) -> Nodes:
    """Return the nodes once `name` owns no shard, or after `wait_s`."""
    give_up_at = trio.current_time() + wait_s
    while True:
        seen = await trio.to_thread.run_sync(look)
        found = seen.find(name)
        if found is None or not found.shards or trio.current_time() >= give_up_at:
            return seen
        await trio.sleep(LOOK_AGAIN_S)


def _state(seen: NodeSeen) -> str:
    if seen.running:
        return seen.state
    return "down" if seen.state != "draining" else "down, draining"


def _table(seen: Nodes) -> RenderableType:
    table = new_table(f"Nodes: {len(seen.nodes)}", "Name", "Address", "State", "Shards")
    for found in seen.nodes:
        add_row(table, found.name, found.address, _state(found), len(found.shards))
    if not seen.ownerless:
        return table
    return Group(
        table,
        cell(
            counted(seen.ownerless, "shard has", "shards have")
            + " no owner: calls of the partners there are refused."
        ),
    )


def _drained(seen: Nodes, name: str) -> RenderableType:
    found = seen.find(name)
    left = len(found.shards) if found else 0
    return cell(
        f"Node {name} is being drained and owns {counted(left, 'shard')}."
        if left
        else f"Node {name} is drained. `pgs node undrain {name}` removes the mark."
    )
