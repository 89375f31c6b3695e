#!/usr/bin/env python3
"""Breaks a cluster again and again while partners' backends work, and looks for what was lost.

    scripts/torture_cluster.py                20 faults: about five minutes
    scripts/torture_cluster.py --faults 200   as recorded in docs/clusters.md
    scripts/torture_cluster.py --write        writes the table of outages into docs/clusters.md

Three nodes, HAProxy, and PostgreSQL with a synchronous standby run in network namespaces, where
this account may make them, else on loopback without the faults of links. Backends of a dozen
partners take seats, repeat calls, decide matches, and read matches and feeds, through the proxy and
from random nodes; settlement is the embedded one. After the faults every call is repeated with its
idempotency key, each feed is compared with what was acknowledged, and the ledger is proved. The
exit code is 1 if anything acknowledged is missing, doubled or different, or an answer was stale.
"""

import in_venv  # noqa: F401  first: the packages below are installed in .venv

# isort: split

import random
import re
import sys
import tempfile
import time
from pathlib import Path
from textwrap import fill
from threading import Thread
from typing import Annotated

import trio
import typer
from cluster_parts.cluster import Cluster
from cluster_parts.machines import InNamespaces, Missing, in_own_network
from cluster_parts.postgres import NAMES as DATABASES
from cluster_torture.backend import Backend
from cluster_torture.faults import AMONG_SEVERAL, EVERYWHERE, NAMES, WITH_LINKS, Faults
from cluster_torture.identity import Issuer, accept_invites
from cluster_torture.member import Member
from cluster_torture.outages import Window, table
from seed import seed

from pgs.domain.shards import shard_of

PATIENCE_S = 60.0
SETTLED_S = 1.5
PAGE = Path(__file__).resolve().parent.parent / "docs" / "clusters.md"


class Run:
    """One cluster, its backends, and the faults so far."""

    def __init__(self, cluster: Cluster, rng: random.Random) -> None:
        self.cluster = cluster
        self.windows: list[Window] = []
        self._faults = Faults(cluster, rng)
        self._rng = rng
        self.backends: list[Backend] = []
        self.members: list[Member] = []
        self._issuer: Issuer | None = None

    def prepare(self, partners: int) -> None:
        """Start everything and let the backends begin."""
        self.cluster.start()
        made = trio.run(
            seed, self.cluster.ring.parent, partners, lambda: None, self.cluster.pair.url
        )
        trio.run(accept_invites, self.cluster, made)
        self._issuer = issuer = Issuer(self.cluster)
        self.cluster.start_nodes()
        nodes = {node.name: node.public for node in self.cluster.nodes.values()}
        self.backends = [
            Backend(
                one.partner_id,
                one.test_key,
                "test-bronze",
                proxy=self.cluster.proxy,
                nodes=nodes,
                rng=random.Random(self._rng.random()),
            )
            for one in made
        ]
        self.members = [
            Member(one.partner_id, issuer.token(one.partner_id), self.cluster.proxy, nodes)
            for one in made
        ]
        for worker in self.workers():
            worker.start()
        self.settle()

    def workers(self) -> list[Backend | Member]:
        """Return everybody who calls."""
        return [*self.backends, *self.members]

    def found(self) -> list[str]:
        """Return what has been found so far."""
        return [wrong for worker in self.workers() for wrong in worker.found]

    def close(self) -> None:
        """End everything that was started."""
        if self._issuer is not None:
            self._issuer.close()
        self.cluster.close()

    def hit(self, fault: str) -> None:
        """Let one fault happen, and return once everything works again."""
        before = self.cluster.owners()
        begin = time.monotonic()
        hit = getattr(self._faults, fault)()
        mended = time.monotonic()
        self.settle()
        concerned = frozenset(
            backend.partner_id
            for backend in self.backends
            if hit is None or before.get(shard_of(backend.partner_id), hit) == hit
        )
        end = max(mended, time.monotonic() - SETTLED_S)
        self.windows.append(Window(NAMES[fault], begin, end, concerned))

    def settle(self) -> None:
        """Return once every node is ready, every shard owned, and every partner answered."""
        for node in self.cluster.nodes.values():
            self.cluster.until_ready(node)
        self.cluster.until_owned()
        began = time.monotonic()
        while any(not one.answers or one.answers[-1] < began for one in self.backends):
            self._wait(began, "every partner is answered")
        time.sleep(SETTLED_S)

    def _wait(self, began: float, what: str) -> None:
        if time.monotonic() > began + PATIENCE_S:
            raise RuntimeError(f"it never happened again that {what}")
        time.sleep(0.1)

    def end(self) -> list[str]:
        """Stop everybody who calls, compare everything; return what is wrong."""
        for worker in self.workers():
            worker.stop()
        for worker in self.workers():
            worker.join()
        lookers = [Thread(target=worker.look) for worker in self.workers()]
        for looker in lookers:
            looker.start()
        for looker in lookers:
            looker.join()
        found = self.found()
        node = next(iter(self.cluster.nodes.values()))
        checked = self.cluster.pgs("ledger", "check", "--data", str(node.folder))
        if checked.returncode:
            found.append(f"the ledger: {checked.stdout}{checked.stderr}")
        return found


def main(
    faults: Annotated[int, typer.Option(min=0, help="How many faults.")] = 20,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 1,
    kinds: Annotated[str, typer.Option(help="These kinds only, with commas between.")] = "",
    nodes: Annotated[int, typer.Option(min=1, max=9, help="How many nodes.")] = 3,
    partners: Annotated[int, typer.Option(min=1, max=99, help="How many partners.")] = 12,
    keep: Annotated[Path | None, typer.Option(help="Keep logs in this new folder.")] = None,
    write: Annotated[bool, typer.Option("--write", help="Write the table to the page.")] = False,
) -> None:
    """Break a cluster under load."""
    own_network = in_own_network([sys.executable, *sys.argv])
    names = [f"n{number}" for number in range(1, nodes + 1)]
    wanted = [*EVERYWHERE]
    wanted += AMONG_SEVERAL if nodes > 1 else ()
    wanted += WITH_LINKS if own_network else ()
    if not own_network:
        _say("this account may make no network namespaces: faults of links are LEFT OUT")
    if kinds:
        chosen = kinds.split(",")
        if unknown := sorted(set(chosen) - set(wanted)):
            raise typer.BadParameter(f"there is no {', '.join(unknown)} here", param_hint="--kinds")
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
        told, failed = _tortured(cluster, faults, seed, wanted, partners)
    print(told)
    if write:
        _write(told)
    raise typer.Exit(failed)


def _tortured(
    cluster: Cluster, faults: int, seed: int, wanted: list[str], partners: int
) -> tuple[str, bool]:
    """Return what a run has measured and found, and whether anything was wrong."""
    rng = random.Random(seed)
    run = Run(cluster, rng)
    found: list[str] = []
    happened = 0
    try:
        run.prepare(partners)
        order: list[str] = []
        for number in range(1, faults + 1):
            if not order:
                order = rng.sample(wanted, len(wanted))
            fault = order.pop()
            _say(f"{number}/{faults} {NAMES[fault]}")
            run.hit(fault)
            happened += 1
            if run.found():
                break
        _say("asking for everything again")
        found = run.end()
    except (RuntimeError, AssertionError) as error:
        found = [*run.found(), str(error)]
    finally:
        run.close()
    acknowledged = sum(len(one.seats) for one in run.backends)
    decided = sum(len(one.decided) for one in run.backends)
    directly = sum(one.asked_directly for one in run.backends)
    answers = sum(len(one.answers) for one in run.backends)
    refusals: dict[str, int] = {}
    for one in run.backends:
        for said, count in one.refusals.items():
            refusals[said] = refusals.get(said, 0) + count
    _say(f"answers that were refusals (0: none in time): {refusals}")
    summary = (
        f"{happened} faults with seed {seed}: {acknowledged} seats and {decided} decisions were "
        f"acknowledged, {answers} calls answered by the proxy and {directly} by a random node. "
        f"{sum(one.acknowledged for one in run.members)} prices were set by admins "
        f"({sum(one.repeated for one in run.members)} of them by repeated calls), and read "
        f"{sum(one.asked_nodes for one in run.members)} times at the proxy and each node. "
        + (f"{len(found)} findings:" if found else "Nothing was lost, doubled or stale.")
    )
    lines = [
        fill(summary, 100),
        *(f"- {' '.join(wrong.split())[:400]}" for wrong in found[:20]),
        "",
        table(run.windows, {one.partner_id: one.answers for one in run.backends}),
    ]
    return "\n".join(lines), bool(found)


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
