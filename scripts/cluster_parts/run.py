"""Starts a cluster on this machine, says what to try, and ends it on Ctrl-C."""

import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import trio
import typer
from cluster_parts.cluster import Cluster
from cluster_parts.machines import Missing
from seed import seed

PORT = 8080

_TRY = """
{url} is HAProxy in front of the nodes. Three partners are there; this one is in shard {shard}:

    export PGS_DATABASE_URL='{database}' KEY={key}
    curl -s -H "Authorization: Bearer $KEY" {url}/partner/me

    {python} -m pgs node list            which node owns how many shards
    {python} -m pgs node drain n2        n2 hands its shards over; `undrain n2` takes it back
    kill -9 {pid}                        n1 crashes, and stays down: the others take its shards over
    curl -s http://{internal}/internal/readyz
    curl -s http://{internal}/internal/metrics

{nodes}
Logs and data are in {folder}. Ctrl-C ends everything and removes them.
"""


def main(
    port: Annotated[int, typer.Option(min=1, max=65535, help="The port of HAProxy.")] = PORT,
    nodes: Annotated[int, typer.Option(min=1, max=9, help="How many nodes.")] = 3,
    once: Annotated[bool, typer.Option("--once", help="End as soon as all of it runs.")] = False,
) -> None:
    """Run PostgreSQL with a synchronous standby, nodes of the service and HAProxy until Ctrl-C."""
    ended = threading.Event()

    def interrupt(*_: object) -> None:
        ended.set()
        raise KeyboardInterrupt

    _on_signals(interrupt)
    # In /tmp: the servers may run as another account, which cannot enter a folder of root.
    with tempfile.TemporaryDirectory(prefix="pgs-cluster-") as place:
        folder = Path(place)
        folder.chmod(0o755)
        cluster: Cluster | None = None
        try:
            _refuse_a_port_in_use(port)
            cluster = Cluster(
                folder, names=[f"n{number}" for number in range(1, nodes + 1)], port=port
            )
            _start(cluster)
            while not once:
                signal.pause()
        except (Missing, RuntimeError) as error:
            sys.exit(f"scripts/cluster: {error}")
        except BaseException:
            if not ended.is_set():  # after a signal, the interrupted code may raise anything
                raise
        finally:
            _on_signals(signal.SIG_IGN)  # it is ending already
            print("cluster: ending", file=sys.stderr)
            if cluster is not None:
                cluster.close()


def _on_signals(handler: Callable[..., None] | signal.Handlers) -> None:
    """Set what happens at Ctrl-C, at `kill`, and when the terminal is closed.

    Under nohup, a closed terminal still has no effect.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


def _refuse_a_port_in_use(port: int) -> None:
    """Raise `Missing` if another program has the proxy's port, and might answer in its place."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise Missing(f"port {port}: {error.strerror}. Choose another one: --port") from None


def _start(cluster: Cluster) -> None:
    """Start all of it, and say what to try."""
    cluster.start(_tell)
    _tell("three partners")
    partners = trio.run(seed, cluster.ring.parent, 3, lambda: None, cluster.pair.url)
    cluster.start_nodes(_tell)
    _say(cluster, partners[0].partner_id, partners[0].test_key)


def _tell(what: str) -> None:
    print(f"cluster: starting {what}", file=sys.stderr, flush=True)


def _say(cluster: Cluster, partner_id: str, key: str) -> None:
    from pgs.domain.shards import shard_of

    first = cluster.nodes["n1"]
    assert first.process is not None
    print(
        _TRY.format(
            url=cluster.url,
            shard=shard_of(partner_id),
            database=cluster.pair.url,
            key=key,
            python=sys.executable,
            pid=first.process.pid,
            internal=first.internal,
            folder=cluster.folder,
            nodes="".join(
                f"    {node.name}: http://{node.public}, internal http://{node.internal}\n"
                for node in cluster.nodes.values()
            )
            + "".join(
                f"    {server.name}: PostgreSQL at {server.address}, {part}\n"
                for server, part in (
                    (cluster.pair.primary, "primary"),
                    (cluster.pair.standby, "synchronous standby"),
                )
            ),
        ),
        flush=True,
    )


if __name__ == "__main__":
    typer.run(main)
