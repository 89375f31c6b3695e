"""The faults: each hits the cluster, lasts a while, and is repaired."""

import random
import signal
import time
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from cluster_parts.cluster import Cluster, Node
from cluster_parts.machines import InNamespaces
from cluster_torture.settlement import Settlement


class Faults:
    """Faults of one cluster. Each returns the name of the node that it hit, or None for all."""

    def __init__(self, cluster: Cluster, rng: random.Random) -> None:
        self._cluster = cluster
        self._rng = rng
        self.settlement: Settlement | None = None

    def _victim(self) -> Node:
        return self._rng.choice(list(self._cluster.nodes.values()))

    def _pause(self, least: float, most: float) -> None:
        time.sleep(self._rng.uniform(least, most))

    def kill(self) -> str:
        """A node gets kill -9, and is started again after a while."""
        node = self._victim()
        node.end(signal.SIGKILL)
        self._pause(2, 4)
        node.start()
        return node.name

    def restart(self) -> str:
        """A node is stopped with SIGTERM, and started again immediately."""
        node = self._victim()
        node.end(signal.SIGTERM)
        node.start()
        return node.name

    def stop(self) -> str:
        """A node is stopped with SIGSTOP, and continues after a while."""
        node = self._victim()
        assert node.process is not None
        node.process.send_signal(signal.SIGSTOP)
        self._pause(0.5, 6)
        node.process.send_signal(signal.SIGCONT)
        return node.name

    def drain(self) -> str:
        """A node is drained, and takes shards again after a while."""
        node = self._victim()
        for words in (("drain", node.name), ("undrain", node.name)):
            done = self._cluster.pgs("node", *words)
            if done.returncode:
                raise RuntimeError(f"pgs node {' '.join(words)}: {done.stderr}")
            self._pause(0.5, 2)
        return node.name

    def cut_node(self) -> str:
        """The link of a node is down for a while: to the database, the proxy and the others."""
        node = self._victim()
        self._cut(node.name)
        return node.name

    def cut_database(self) -> None:
        """The link of the primary is down for a while."""
        self._cut(self._cluster.pair.primary.name)

    def _cut(self, name: str) -> None:
        machines = self._cluster.machines
        assert isinstance(machines, InNamespaces)
        machines.cut(name)
        self._pause(0.5, 6)
        machines.join(name)

    def crash_database(self) -> None:
        """The primary crashes, and is started again immediately."""
        primary = self._cluster.pair.primary
        primary.end(signal.SIGQUIT)
        primary.start()

    def lose_standby(self) -> None:
        """The standby is away for a while: no commit is confirmed."""
        standby = self._cluster.pair.standby
        standby.end(signal.SIGQUIT)
        self._pause(0.5, 3)
        standby.start()

    def promote(self) -> None:
        """The standby is promoted while the old primary still runs.

        Later the old primary is ended, and becomes the standby of the new one.
        """
        old = self._cluster.pair.promote()
        self._pause(6, 9)
        old.end(signal.SIGQUIT)
        self._cluster.pair.attach()

    def kill_settlement(self) -> None:
        """The settlement server gets kill -9, and is started again after a while."""
        assert self.settlement is not None
        self.settlement.kill()
        self._pause(0.5, 3)
        self.settlement.start()


EVERYWHERE: Final = (
    "kill",
    "restart",
    "stop",
    "crash_database",
    "lose_standby",
    "promote",
)
AMONG_SEVERAL: Final = ("drain",)
WITH_SETTLEMENT: Final = ("kill_settlement",)
WITH_LINKS: Final = ("cut_node", "cut_database")

NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "kill": "kill -9 of a node",
        "restart": "stop and start of a node",
        "stop": "SIGSTOP of a node, up to 6 s",
        "drain": "drain and undrain of a node",
        "cut_node": "link of a node down, up to 6 s",
        "cut_database": "link of the primary down, up to 6 s",
        "crash_database": "crash of the primary",
        "lose_standby": "standby away, up to 3 s",
        "kill_settlement": "kill -9 of the settlement server, back within 3 s",
        "promote": "standby promoted, old primary left running for 6 to 9 s",
    }
)
"""How the table of outages names each fault."""
