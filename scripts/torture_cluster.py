#!/usr/bin/env python3
"""Breaks a cluster again and again while partners' backends work, and looks for what was lost.

    scripts/torture_cluster.py                20 faults: about five minutes
    scripts/torture_cluster.py --faults 200   as recorded in docs/clusters.md
    scripts/torture_cluster.py --write        writes the table of outages into docs/clusters.md

Three nodes, HAProxy, and PostgreSQL with a synchronous standby run in network namespaces. If the
user who starts this may not make namespaces, they run on loopback, without the faults of links.
Beside them runs the reference settlement server, which is killed like the nodes; --embedded leaves
it out. Backends of a dozen partners take seats, repeat calls, decide matches, and read matches and
feeds, through the proxy and from random nodes. Two players of each partner play one match after the
other over sockets, and an admin sets prices. Up to 20 times a second, every node is asked which
shards it answers for. After the faults every call is repeated with its idempotency key, each feed
is compared with what was acknowledged and with what players were told, the service's books are
compared with the settlement server's charge by charge, and the ledger is checked. The exit code is
1 if anything acknowledged is missing, doubled or different, if an answer was stale, or if two nodes
answered for a shard at the same time.
"""

import in_venv  # the first import, because the packages below are installed in .venv

# isort: split

import random
import re
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer
from cluster_parts.cluster import Cluster
from cluster_parts.machines import InNamespaces, Missing, in_own_network
from cluster_parts.postgres import NAMES as DATABASES
from cluster_torture import summary
from cluster_torture.faults import AMONG_SEVERAL, EVERYWHERE, NAMES, WITH_LINKS, WITH_SETTLEMENT
from cluster_torture.run import Run

PAGE = Path(__file__).resolve().parent.parent / "docs" / "clusters.md"


def main(
    faults: Annotated[int, typer.Option(min=0, help="How many faults.")] = 20,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 1,
    kinds: Annotated[str, typer.Option(help="These kinds only, with commas between.")] = "",
    nodes: Annotated[int, typer.Option(min=1, max=9, help="How many nodes.")] = 3,
    partners: Annotated[int, typer.Option(min=1, max=99, help="How many partners.")] = 12,
    embedded: Annotated[
        bool, typer.Option("--embedded", help="Settle inside the service: no settlement server.")
    ] = False,
    keep: Annotated[Path | None, typer.Option(help="Keep logs in this new folder.")] = None,
    write: Annotated[bool, typer.Option("--write", help="Write the table to the page.")] = False,
) -> None:
    """Break a cluster under load."""
    own_network = in_own_network([sys.executable, *sys.argv])
    names = [f"n{number}" for number in range(1, nodes + 1)]
    wanted = [*EVERYWHERE]
    wanted += AMONG_SEVERAL if nodes > 1 else ()
    wanted += WITH_LINKS if own_network else ()
    wanted += () if embedded else WITH_SETTLEMENT
    if not own_network:
        _say("this account may make no network namespaces: faults of links are LEFT OUT")
    if kinds:
        chosen = kinds.split(",")
        if unknown := sorted(set(chosen) - set(wanted)):
            raise typer.BadParameter(
                f"there is no {', '.join(unknown)} here; there are {', '.join(wanted)}",
                param_hint="--kinds",
            )
        wanted = chosen
    with tempfile.TemporaryDirectory(prefix="pgs-cluster-") as place:
        folder = keep or Path(place)
        folder.mkdir(exist_ok=True)
        folder.chmod(0o755)
        try:
            machines = InNamespaces([*names, *DATABASES]) if own_network else None
            cluster = Cluster(folder, machines, names=names, durable=False)
        except Missing as missing:
            sys.exit(f"torture_cluster: {missing}")
        run = Run(cluster, random.Random(seed), embedded=embedded)
        found = _tortured(run, faults, seed, wanted, partners)
    _say(f"answers that were refusals (0: none in time): {summary.refusals(run)}")
    told = summary.told(run, len(run.windows), seed, found)
    print(told)
    if write:
        _write(told)
    raise typer.Exit(bool(found))


def _tortured(run: Run, faults: int, seed: int, wanted: list[str], partners: int) -> list[str]:
    """Let the faults happen in a random order; return what was found."""
    rng = random.Random(seed)
    try:
        run.prepare(partners)
        order: list[str] = []
        for number in range(1, faults + 1):
            if not order:
                order = rng.sample(wanted, len(wanted))
            fault = order.pop()
            _say(f"{number}/{faults} {NAMES[fault]}")
            run.hit(fault)
            if run.found():
                break
        _say("asking for everything again")
        return run.end()
    except (RuntimeError, AssertionError) as error:
        return [*run.found(), str(error)]
    finally:
        run.close()


def _say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


def _write(told: str) -> None:
    """Put the last run's result between its marks on the page."""
    page = PAGE.read_text(encoding="utf-8")
    marked = re.compile(r"(<!-- torture begins -->\n).*?(<!-- torture ends -->)", re.DOTALL)
    fresh, count = marked.subn(lambda found: f"{found[1]}{told}\n{found[2]}", page)
    assert count == 1, f"{PAGE} has no place for the table"
    PAGE.write_text(fresh, encoding="utf-8")


if __name__ == "__main__":
    typer.run(main)
