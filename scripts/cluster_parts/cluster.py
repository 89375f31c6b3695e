"""A whole cluster on one machine: PostgreSQL with a standby, nodes and HAProxy."""

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import psycopg
from cluster_parts.machines import PATIENCE_S, Machines, OnLoopback, end, ending, find
from cluster_parts.postgres import Pair

from pgs.domain.shards import SHARDS

ROOT: Final = Path(__file__).resolve().parents[2]
SAMPLE: Final = ROOT / "deploy" / "haproxy" / "nodes.cfg"
PUBLIC, INTERNAL = 8000, 8001

_OWNERS: Final = (Path(__file__).parent / "owners.sql").read_text(encoding="utf-8")


class Node:
    """One node of the service. `settings` are those of this node alone."""

    def __init__(self, cluster: "Cluster", name: str) -> None:
        self.name = name
        self._cluster = cluster
        self.public = cluster.machines.address(name, PUBLIC)
        self.internal = cluster.machines.address(name, INTERNAL)
        self.folder = cluster.folder / name
        self.log = cluster.folder / f"{name}.log"
        self.settings: dict[str, str] = {}
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the node's process."""
        environ = {name: value for name, value in os.environ.items() if name[:4] != "PGS_"}
        environ |= {
            "PGS_LISTEN": self.public,
            "PGS_INTERNAL_LISTEN": self.internal,
            "PGS_DATABASE_URL": self._cluster.pair.url,
            "PGS_SECRET_KEY_FILE": str(self._cluster.ring),
            "PGS_BASE_URL": self._cluster.url,
        }
        environ |= self._cluster.settings | self.settings
        if len(self._cluster.nodes) > 1:
            environ |= {"PGS_NODE_NAME": self.name, "PGS_NODE_ADDRESS": self.public}
        serve = [sys.executable, "-m", "pgs", "serve", "--data", str(self.folder)]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self._cluster.machines.inside(self.name, [*ending(), *serve]),
                env=environ,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def ready(self) -> bool:
        """Return whether the node says that it is ready."""
        try:
            return call(self.internal, "GET", "/internal/readyz")[0] == 200
        except OSError:
            return False

    def end(self, number: signal.Signals = signal.SIGTERM) -> None:
        """End the node. SIGTERM lets it stop by itself; SIGKILL ends it like a crash."""
        process, self.process = self.process, None
        end(process, number)


class Cluster:
    """PostgreSQL with a synchronous standby, nodes, and HAProxy in front of them.

    `ring` is the key ring that all nodes share; `settings` are further settings of every node.
    """

    def __init__(
        self,
        folder: Path,
        machines: Machines | None = None,
        *,
        names: Sequence[str] = ("n1", "n2", "n3"),
        port: int | None = None,
        durable: bool = True,
    ) -> None:
        self.folder = folder
        self.machines = machines or OnLoopback()
        self._haproxy = find("haproxy", "haproxy")
        self.pair = Pair(self.machines, folder, durable=durable)
        self.ring = folder / "ring" / "keys"
        self.settings: dict[str, str] = {}
        address = self.machines.address("proxy", 80) if port is None else f"127.0.0.1:{port}"
        self.proxy = address
        self.url = f"http://{address}"
        self.nodes = {name: Node(self, name) for name in names}
        self._proxy: subprocess.Popen[bytes] | None = None

    def start(self, tell: Any = lambda what: None) -> None:
        """Start both servers of PostgreSQL. `start_nodes` starts the rest."""
        tell("PostgreSQL and its synchronous standby")
        self.pair.start()

    def start_nodes(self, tell: Any = lambda what: None) -> None:
        """Start the nodes and the proxy, and return once all nodes are ready."""
        for node in self.nodes.values():
            tell(f"node {node.name}")
            node.start()
        for node in self.nodes.values():
            self.until_ready(node)
        tell("HAProxy")
        self._start_proxy()
        self.until_owned()

    def owners(self) -> dict[int, str]:
        """Return the owner of each shard that has one; no shard if the database does not answer."""
        try:
            found = self.pair.primary.ask(_OWNERS, database="pgs")
        except psycopg.Error:
            return {}
        return {int(str(shard)): str(name) for shard, name in found}

    def until_owned(self) -> None:
        """Return once every shard has an owner; immediately if there is only one node."""
        give_up_at = time.monotonic() + PATIENCE_S
        while len(self.nodes) > 1 and len(self.owners()) < SHARDS:
            if time.monotonic() > give_up_at:
                raise RuntimeError(f"only {len(self.owners())} of {SHARDS} shards have an owner")
            time.sleep(0.1)

    def until_ready(self, node: Node) -> None:
        """Return once a node is ready. Raises RuntimeError with its log if it never is."""
        give_up_at = time.monotonic() + PATIENCE_S
        while not node.ready():
            ended = node.process is None or node.process.poll() is not None
            if ended or time.monotonic() > give_up_at:
                raise RuntimeError(f"{node.name} is not ready: {node.log.read_text()[-2000:]}")
            time.sleep(0.1)

    def _start_proxy(self) -> None:
        folder = self.folder / "haproxy"
        folder.mkdir()
        (folder / "owners").touch()
        (folder / "haproxy.cfg").write_text(self._configuration(folder))
        with (folder / "log").open("ab") as log:
            self._proxy = subprocess.Popen(
                [*ending(), self._haproxy, "-db", "-f", str(folder / "haproxy.cfg")],
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        give_up_at = time.monotonic() + PATIENCE_S
        while True:
            try:
                call(self.proxy, "GET", "/")
            except OSError:
                if self._proxy.poll() is not None or time.monotonic() > give_up_at:
                    raise RuntimeError((folder / "log").read_text()[-2000:]) from None
                time.sleep(0.05)
            else:
                return

    def _configuration(self, folder: Path) -> str:
        """Return HAProxy's settings: the sample of `deploy/` with these addresses, without TLS."""
        text = SAMPLE.read_text(encoding="utf-8")
        head, _, _ = text.partition("    # The names must be those of the nodes.\n")
        changes = {
            "    log /dev/log local0\n    user haproxy\n    group haproxy\n": "",
            "maxconn 20000": "maxconn 2000",  # an account may have few open files
            "    log global\n    option httplog\n": "",
            "bind :80\n": f"bind {self.proxy}\n",
            "    bind :443 ssl crt /etc/haproxy/pgs.pem alpn h2,http/1.1\n": "",
            "    http-request redirect scheme https code 308 unless { ssl_fc }\n": "",
            "/etc/haproxy/owners": str(folder / "owners"),
            "default-server check port 8001 inter": "default-server check inter",
        }
        for old, new in changes.items():
            assert old in head, f"{SAMPLE} lacks {old!r}"
            head = head.replace(old, new)
        for node in self.nodes.values():
            port = node.internal.rpartition(":")[2]
            head += f"    server {node.name} {node.public} port {port}\n"
        return head

    def pgs(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command of `pgs` on the database, beside the nodes."""
        environ = {name: value for name, value in os.environ.items() if name[:4] != "PGS_"}
        return subprocess.run(
            [sys.executable, "-m", "pgs", *words],
            env=environ | {"PGS_DATABASE_URL": self.pair.url},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    def close(self) -> None:
        """End everything."""
        if self._proxy is not None:
            self._proxy.kill()
            self._proxy.wait()
        for node in self.nodes.values():
            if node.process is not None:
                node.process.send_signal(signal.SIGTERM)
        for node in self.nodes.values():
            node.end()
        self.pair.close()
        self.machines.close()


def call(
    address: str,
    method: str,
    path: str,
    key: str = "",
    body: Any = None,
    timeout: float = 30.0,
    headers: Mapping[str, str] = MappingProxyType({}),
) -> tuple[int, Any]:
    """Return the status and the JSON of an answer. Raises OSError if there is none."""
    connection = http.client.HTTPConnection(address, timeout=timeout)
    try:
        head = dict(headers) | ({"authorization": f"Bearer {key}"} if key else {})
        connection.request(
            method, path, body=None if body is None else json.dumps(body), headers=head
        )
        answer = connection.getresponse()
        content = answer.read()
    except http.client.HTTPException as error:
        raise OSError(str(error) or type(error).__name__) from error
    finally:
        connection.close()
    try:
        return answer.status, json.loads(content)
    except ValueError:
        return answer.status, None
