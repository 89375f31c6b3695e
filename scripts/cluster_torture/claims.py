"""Asks every node again and again for its shards, and notes when two nodes have the same one."""

import http.client
import json
import threading
import time
from collections import defaultdict, deque
from collections.abc import Mapping
from typing import Any, Final

from cluster_parts.cluster import Cluster
from cluster_torture.threads import Threads

PAUSE_S: Final = 0.05
"""Seconds between two questions to a node. About thirty questions fit into the time for which a
node answers from memory after its last beat."""

ANSWER_S: Final = 0.4
"""Seconds to wait for an answer. After that the question is given up, and a new one is asked. So
when a stopped node continues, the question that it answers is at most this old."""

ROUNDING_S: Final = 0.001

_REMEMBERED: Final = 16


class Claims:
    """For which shards each node has certainly answered, and when.

    A node's answer names its shards, and says for how many seconds the node has answered for each
    of them without a break: say, for 30 s. The node counts these seconds at some moment after the
    question was sent and before the answer arrives. So there is a time in which the node certainly
    answered for the shard, however long question and answer were on the way. This time begins 30 s
    before the answer arrives, and ends when the question is sent. If such times of two nodes
    overlap, both nodes answered for the shard at the same moment. All times come from this
    machine's one monotonic clock.
    """

    def __init__(self) -> None:
        self.answers = 0
        self.found: list[str] = []
        self._lock = threading.Lock()
        # By shard and node: the newest of these times, each as its beginning and end.
        self._known: dict[int, dict[str, deque[tuple[float, float]]]] = defaultdict(dict)

    def note(self, node: str, asked: float, answered: float, shards: Mapping[int, float]) -> None:
        """Note a node's answer, and compare it with those of the other nodes."""
        with self._lock:
            self.answers += 1
            for shard, seconds in shards.items():
                begin, end = answered - seconds + ROUNDING_S, asked
                if begin < end:
                    self._compare(node, shard, begin, end)

    def _compare(self, node: str, shard: int, begin: float, end: float) -> None:
        known = self._known[shard]
        for other, times in known.items():
            for since, until in times if other != node else ():
                both = min(end, until) - max(begin, since)
                if both > 0:
                    self.found.append(
                        f"{node} and {other} both answered for shard {shard}, for {both:.3f} s"
                    )
        own = known.setdefault(node, deque(maxlen=_REMEMBERED))
        if own and begin <= own[-1][1]:  # it still answers
            begin = min(begin, own.pop()[0])
        own.append((begin, end))


class Asker(Threads):
    """Asks one node, from its own machine, so that a link that is down hides nothing."""

    def __init__(self, cluster: Cluster, name: str, claims: Claims) -> None:
        super().__init__(self._ask_on)
        self._cluster, self._name, self._claims = cluster, name, claims

    def _ask_on(self) -> None:
        try:
            self._cluster.machines.enter(self._name)
            address = self._cluster.nodes[self._name].internal
            while not self._ended.is_set():
                connection = http.client.HTTPConnection(address, timeout=ANSWER_S)
                try:
                    while not self._ended.wait(PAUSE_S):
                        self._ask(connection)
                except (OSError, http.client.HTTPException):
                    pass  # it is stopped, or has ended
                finally:
                    connection.close()
        except Exception as error:  # a fault of this script must not pass for a clean run
            self._claims.found.append(f"asking {self._name} broke: {error!r}")

    def _ask(self, connection: http.client.HTTPConnection) -> None:
        asked = time.monotonic()
        connection.request("GET", "/internal/shards")
        answer = connection.getresponse()
        told: Any = json.loads(answer.read())
        answered = time.monotonic()
        if answer.status == 200 and told["node"] == self._name:
            shards = {int(shard): float(seconds) for shard, seconds in told["shards"].items()}
            self._claims.note(self._name, asked, answered, shards)
        elif answer.status != 404:  # a node that starts has no shards yet
            raise RuntimeError(f"{self._name} was asked for its shards: {answer.status} {told}")
