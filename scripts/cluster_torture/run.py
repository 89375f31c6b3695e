"""One cluster, the workers that call it, and the faults so far."""

import random
import time
from threading import Thread
from typing import Protocol

import trio
from cluster_parts.cluster import Cluster
from cluster_torture.backend import Backend
from cluster_torture.claims import Asker, Claims
from cluster_torture.faults import NAMES, Faults
from cluster_torture.identity import Issuer, accept_invites
from cluster_torture.member import Member
from cluster_torture.outages import Window
from cluster_torture.players import Players
from cluster_torture.settlement import Settlement
from seed import seed

from pgs.domain.shards import shard_of
from pgs.operator.ready_partners import ReadyPartner

PATIENCE_S = 60.0
SETTLED_S = 1.5


class Worker(Protocol):
    """Calls the cluster until it is stopped, and compares afterwards."""

    found: list[str]

    def start(self) -> None: ...

    def stop(self) -> None: ...

    def join(self) -> None: ...

    def look(self) -> None: ...


class Run:
    """A cluster under load. `embedded`: settlement is inside the service, not a server."""

    def __init__(self, cluster: Cluster, rng: random.Random, *, embedded: bool) -> None:
        self.cluster = cluster
        self.windows: list[Window] = []
        self._rng = rng
        self._embedded = embedded
        self.backends: list[Backend] = []
        self.members: list[Member] = []
        self.players: Players | None = None
        self.claims = Claims()
        self.settlement: Settlement | None = None
        self._faults = Faults(cluster, rng)
        self._issuer: Issuer | None = None
        self._askers: list[Asker] = []

    def prepare(self, partners: int) -> None:
        """Start everything, and let the workers begin."""
        self.cluster.start()
        made = trio.run(
            seed, self.cluster.ring.parent, partners, lambda: None, self.cluster.pair.url
        )
        trio.run(accept_invites, self.cluster, made)
        self._issuer = Issuer(self.cluster)
        if not self._embedded:
            self.settlement = self._faults.settlement = Settlement(self.cluster)
        self.cluster.start_nodes()
        self._make_workers(made, self._issuer)
        for worker in self.workers():
            worker.start()
        for asker in self._askers:
            asker.start()
        self.until_recovered()

    def _make_workers(self, partners: list[ReadyPartner], issuer: Issuer) -> None:
        proxy = self.cluster.proxy
        nodes = {node.name: node.public for node in self.cluster.nodes.values()}
        for one in partners:
            rng = random.Random(self._rng.random())
            key = one.test_key
            self.backends.append(
                Backend(one.partner_id, key, "test-bronze", proxy=proxy, nodes=nodes, rng=rng)
            )
            token = issuer.token(one.partner_id)
            self.members.append(Member(one.partner_id, token, proxy, nodes))
        self.players = Players(partners, proxy, self._rng.random())
        if len(nodes) > 1:
            self._askers = [Asker(self.cluster, name, self.claims) for name in nodes]

    def workers(self) -> list[Worker]:
        """Return all workers: backends, admins and players."""
        return [*self.backends, *self.members, *([self.players] if self.players else [])]

    def found(self) -> list[str]:
        """Return what went wrong so far."""
        return [*self.claims.found, *(wrong for one in self.workers() for wrong in one.found)]

    def close(self) -> None:
        """End everything that was started."""
        for asker in self._askers:
            asker.stop()
        if self._issuer is not None:
            self._issuer.close()
        self.cluster.close()
        if self.settlement is not None:
            self.settlement.close()

    def hit(self, fault: str) -> None:
        """Let one fault happen, and return once everything works again."""
        before = self.cluster.owners()
        begin = time.monotonic()
        hit = getattr(self._faults, fault)()
        mended = time.monotonic()
        self.until_recovered()
        concerned = frozenset(
            backend.partner_id
            for backend in self.backends
            if hit is None or before.get(shard_of(backend.partner_id), hit) == hit
        )
        end = max(mended, time.monotonic() - SETTLED_S)
        self.windows.append(Window(NAMES[fault], begin, end, concerned))

    def until_recovered(self) -> None:
        """Return once all nodes are ready, all shards have owners, and all partners get answers."""
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
        """Stop all workers and compare everything; return what is wrong."""
        for worker in self.workers():
            worker.stop()
        for worker in self.workers():
            worker.join()
        lookers = [Thread(target=worker.look) for worker in self.workers()]
        for looker in lookers:
            looker.start()
        for looker in lookers:
            looker.join()
        for asker in self._askers:
            asker.stop()
            asker.join()
        found = self.found()
        if self._askers and not self.claims.answers:
            found.append("no node ever said for which shards it answers")
        if self.settlement is not None:
            found += self.settlement.compare()
        node = next(iter(self.cluster.nodes.values()))
        checked = self.cluster.pgs("ledger", "check", "--data", str(node.folder))
        if checked.returncode:
            found.append(f"the ledger: {checked.stdout}{checked.stderr}")
        return found
