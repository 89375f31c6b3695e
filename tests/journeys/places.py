"""The kinds of installation on which the journeys run, and the place of each service of a test."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec
import pytest

from pgs.actors.kernel.ref import Ref
from pgs.config import KEY_FILE_NAME, Config
from pgs.http.outbound import fetch
from tests.journeys.leaks import contents
from tests.journeys.process import Process, free_port, node_process
from tests.patience import PATIENCE_S

if TYPE_CHECKING:  # most runs need no driver
    from tests.journeys.databases import Databases

Kind = Literal["sqlite", "postgres", "node", "nodes"]

NODES: Final[Mapping[Kind, tuple[str, ...]]] = {
    "sqlite": (),
    "postgres": (),
    "node": ("n1",),
    "nodes": ("n1", "n2", "n3"),
}
"""The names of the nodes of each kind of installation. A service without a name is alone."""


class Place(msgspec.Struct, frozen=True):
    """Where a service keeps its data, and how many nodes serve it."""

    folder: Path
    kind: Kind = "sqlite"
    databases: "Databases | None" = None

    def __truediv__(self, name: str) -> "Place":
        """Return another place of the same kind, with data of its own."""
        return msgspec.structs.replace(self, folder=self.folder / name)

    @property
    def url(self) -> str:
        """The address of the database; empty if it is a file."""
        return "" if self.databases is None else self.databases.at(self.folder)

    @property
    def is_among_nodes(self) -> bool:
        """Whether the service consists of nodes, be it only one."""
        return bool(NODES[self.kind])

    def configs(self, **settings: Any) -> tuple[Config, ...]:
        """Return the configuration of each process, with these settings.

        The default ports are free ones on loopback. All nodes have the address of the first one as
        their public address.
        """
        ports: dict[str, Any] = {"listen": "127.0.0.1:0", "internal_listen": "127.0.0.1:0"}
        if not self.is_among_nodes:
            own = ports | {"data_dir": self.folder, "database_url": self.url}
            return (Config(**(own | settings)),)
        addresses = {name: f"127.0.0.1:{free_port()}" for name in NODES[self.kind]}
        shared = ports | {
            "database_url": self.url,
            "secret_key_file": self.folder / KEY_FILE_NAME,
            "base_url": f"http://{next(iter(addresses.values()))}",
        }
        return tuple(
            Config(
                data_dir=self.folder / name,
                node_name=name,
                node_address=address,
                **(shared | {"listen": address} | settings),
            )
            for name, address in addresses.items()
        )

    def processes(self, **variables: Any) -> tuple[Process, ...]:
        """Return each process of a service, not started, with these variables of the environment.

        These processes keep the real times of nodes. A call may therefore be answered with 503
        while shards change hands, which a busy machine causes at any time.
        """
        url = self.url
        if not self.is_among_nodes:
            own: dict[str, Any] = {"PGS_DATABASE_URL": url} if url else {}
            return (Process(self.folder, **own, **variables),)
        key_file = self.folder / KEY_FILE_NAME
        return tuple(
            node_process(self.folder, name, url, key_file, **variables) for name in NODES[self.kind]
        )

    def contents(self) -> dict[str, bytes]:
        """Return everything that is stored here, by the name of its file or table."""
        found = contents(self.folder)
        for name in NODES[self.kind]:
            files = contents(self.folder / name).items()
            found |= {f"{name}/{file}": content for file, content in files}
        return found if self.databases is None else found | self.databases.rows_of(self.folder)


NewPlace = Callable[[str], Place]
"""Makes a place, in a folder with a name that begins like this, for a service that tests share."""


@contextmanager
def looking_every(seconds: float) -> Iterator[None]:
    """Let nodes look at each other every `seconds` in a block, besides the looks after notices.

    With few milliseconds, nodes share the shards out sooner. With many seconds, a node that starts
    before the others does not take the shards that it would then have to hand over.
    """
    from pgs.storage.postgres import node_looks  # imported here, because most runs need no driver

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(node_looks, "LOOK_S", seconds)
        yield


@contextmanager
def patient_nodes() -> Iterator[None]:
    """Let no node be taken for dead in a block, however long a busy machine keeps it waiting.

    Nodes also wait as long for each other's connections and handshakes: three nodes in one process
    hold each other up, most of all just after their start. The tests of fail-over keep the real
    times.
    """
    from pgs.domain import leases
    from pgs.http.nodes import connections, sockets
    from pgs.storage.postgres import entering, shard_keeper

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(leases, "HOLD_S", PATIENCE_S)
        patch.setattr(leases, "TAKE_S", 2 * PATIENCE_S)
        patch.setattr(entering, "ENTER_S", PATIENCE_S)
        patch.setattr(shard_keeper, "BEAT_TIMEOUT_S", PATIENCE_S)
        patch.setattr(connections, "CONNECT_S", PATIENCE_S)
        patch.setattr(sockets, "CONNECT_S", PATIENCE_S)
        patch.setattr(sockets, "HANDSHAKE_S", PATIENCE_S)
        yield


@contextmanager
def patient_calls() -> Iterator[None]:
    """Let no service in this process give up, in a block, what a busy machine delays.

    Otherwise a machine that stands still for some seconds lets messages to actors wait too long,
    and a service cannot read the keys of its identity issuer. The values are defaults of
    parameters, so they are replaced there.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Ref.ask, "__defaults__", (PATIENCE_S,))
        for call in (fetch.JsonClient.fetch, fetch.JsonClient.fetch_json):
            defaults = (call.__kwdefaults__ or {}) | {"timeout_s": PATIENCE_S}
            patch.setattr(call, "__kwdefaults__", defaults)
        patch.setattr(fetch, "CONNECT_TIMEOUT_S", PATIENCE_S)
        yield
