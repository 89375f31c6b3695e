"""Runs the service in the test's process: for one test, or in a thread for many tests.

A service is one process on SQLite or PostgreSQL, or several nodes on PostgreSQL (`places.py`).
"""

import io
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Final, TypeVar

import httpcore
import msgspec
import structlog
import trio

from pgs.actors.core import Core
from pgs.actors.messages.catalogue import SetTier, TierSet
from pgs.actors.ports import NudgePort, SettlementPort
from pgs.actors.shared.snapshots import STALE_S
from pgs.clock import Clock
from pgs.config import Config
from pgs.domain.shards import SHARDS
from pgs.domain.versions import VERSIONS, ServedVersions
from pgs.http.nodes.owners import Owners
from pgs.serve import RunningService, running
from pgs.storage.bulk import read_in_bulk
from pgs.storage.engines import KeptShards
from pgs.storage.ledger import LedgerReport, check_ledger
from tests.journeys.client import Client, InternalClient, SyncClient
from tests.journeys.leaks import shaped_like_secrets
from tests.journeys.partners import Partner, account, drain, make_partner, make_tiers
from tests.journeys.places import Place, looking_every, patient_calls
from tests.patience import PATIENCE_S

T = TypeVar("T")

THREAD = "service-under-test"

ACME: Final = "acme"
"""The partner of a test that needs one."""


class _Lines:
    """Prints log lines, so that pytest shows them with a failure.

    The lines of a shared service belong to no single test. They are collected in `kept`.
    """

    kept = io.StringIO()

    def msg(self, line: str) -> None:
        """Print a line, or add it to `kept`."""
        if threading.current_thread().name != THREAD:
            print(line)
        else:
            self.kept.write(f"{line}\n")

    debug = info = warning = error = critical = exception = log = msg


def config_for(folder: Path, **settings: Any) -> Config:
    """Return a configuration with these settings. The default ports are free ones on loopback."""
    (config,) = Place(folder).configs(**settings)
    return config


async def until(condition: Callable[[], bool | Awaitable[bool]]) -> None:
    """Poll until a condition holds.

    A condition that has to wait is an async function.
    """
    with trio.fail_after(PATIENCE_S):
        while True:
            holds = condition()
            if holds if isinstance(holds, bool) else await holds:
                return
            await trio.sleep(0.005)


async def until_shared_out(nodes: Sequence[KeptShards]) -> None:
    """Return once these nodes own all shards, in even shares, and know each shard's owner."""

    def is_shared_out() -> bool:
        counts = [len(node.owned) for node in nodes]
        if sum(counts) < SHARDS or max(counts) - min(counts) > 1:
            return False
        names = {node.me.name for node in nodes}
        known = [node.owner_of(shard) for node in nodes for shard in range(SHARDS)]
        return all(owner is not None and owner.name in names for owner in known)

    await until(is_shared_out)


class Service(msgspec.Struct, frozen=True):
    """A running service of one or several nodes, and clients for both listeners.

    `public` calls the nodes in turn, `internals` has a client for each core.
    """

    cores: tuple[Core, ...]
    public: Client
    internals: tuple[InternalClient, ...]
    place: Place

    async def partner(self, partner_id: str = ACME, **how: Any) -> Partner:
        """Return a new partner that can launch."""
        return await make_partner(self.core_of(partner_id), partner_id, **how)

    @property
    def core(self) -> Core:
        """The core that owns the partner `acme`."""
        return self.core_of(ACME)

    @property
    def internal(self) -> InternalClient:
        """A client for the internal listener of the node that owns the partner `acme`."""
        return self.internals[self.cores.index(self.core)]

    @property
    def leader(self) -> Core:
        """The core that does what the installation does once, such as changing tiers."""
        return next(core for core in self.cores if core.directory.leads)

    def core_of(self, partner_id: str) -> Core:
        """Return the core that owns a partner now. A single core is returned in any case."""
        if len(self.cores) == 1:
            return self.cores[0]
        return next(core for core in self.cores if core.directory.owns(partner_id))

    async def account(self, partner_id: str, command: Any) -> Any:
        """Return the reply of an account to a command; it must not be a refusal."""
        return await account(self.core_of(partner_id), partner_id, command)

    async def ledger(self) -> LedgerReport:
        """Return what the check of the ledger finds."""
        return await read_in_bulk(self.core.parts.database, check_ledger)

    async def set_tier(self, command: SetTier) -> None:
        """Make or change a tier; return once every node has heard of it."""
        made = await self.leader.directory.catalogue().ask(command, PATIENCE_S)
        assert isinstance(made, TierSet)
        now = self.leader.parts.catalogue.published(0)
        await until(lambda: all(core.parts.catalogue.published(0) == now for core in self.cores))

    def close_registries(self) -> None:
        """From now on, let every node find that its accounts were unreadable for too long."""
        for core in self.cores:
            age = core.parts.registry.age
            age.renew(trio.current_time() - STALE_S)
            setattr(age, "renew", lambda _: None)  # noqa: B010  a reading would open it again


@asynccontextmanager
async def in_process(
    where: Path | Place,
    *,
    settlement: SettlementPort | None = None,
    outbound: NudgePort | None = None,
    resolver: trio.abc.HostnameResolver | None = None,
    versions: ServedVersions = VERSIONS,
    clock: Clock | None = None,
    owners: Owners | None = None,
    **settings: Any,
) -> AsyncIterator[Service]:
    """Run a service for a block: on SQLite in a folder, or what its place asks for.

    It gets the tests' tiers if there are none.
    """
    place = where if isinstance(where, Place) else Place(where)
    async with AsyncExitStack() as stack:
        clients: list[Client] = []
        # The clients outlive the service, so that a test can see how it ends.
        stack.push_async_callback(_close, clients)
        nodes: list[RunningService] = []
        with looking_every(PATIENCE_S) if place.is_among_nodes else nullcontext():
            for config in place.configs(**settings):
                node = running(
                    config,
                    settlement=settlement,
                    outbound=outbound,
                    resolver=resolver,
                    versions=versions,
                    clock=clock,
                    owners=owners,
                )
                nodes.append(await stack.enter_async_context(node))
        service = Service(
            tuple(node.core for node in nodes),
            Client(*(node.listening for node in nodes)),
            tuple(InternalClient(node.internal_url) for node in nodes),
            place,
        )
        clients += [service.public, *service.internals]
        if place.is_among_nodes:
            kept = [core.shards for core in service.cores if core.shards]
            with looking_every(0.02):
                for shards in kept:
                    shards.hurry()
                await until_shared_out(kept)
        # Nodes that a test starts one after the other may have no leader yet, but they have tiers.
        if not (await service.cores[0].parts.catalogue.current()).tiers["test"]:
            await make_tiers(service.leader)
        yield service


async def _close(clients: Sequence[Client]) -> None:
    with trio.CancelScope(shield=True):
        for client in clients:
            await client.aclose()


class SharedService:
    """A service in its own thread. Many tests share it, and each creates its own partners."""

    def __init__(self, where: Path | Place, **settings: Any) -> None:
        self._place = where if isinstance(where, Place) else Place(where)
        self._settings = settings
        self._up = threading.Event()
        self._numbers = count(1)
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name=THREAD)

    def start(self) -> None:
        """Return once the service takes calls."""
        structlog.configure(logger_factory=lambda *_: _Lines())
        with patient_calls():
            self._thread.start()
            assert self._up.wait(PATIENCE_S), "the service does not start"
        if self._error is not None:
            raise self._error
        self.client = self.new_client()

    def new_client(self) -> SyncClient:
        """Return another client of the service. Close it."""
        return SyncClient(*self._service.public.urls)

    def stop(self) -> None:
        """Stop the service. If it ended with an exception, raise it.

        Checks that its metrics, log, files and tables contain nothing in the format of a secret.
        """
        self.client.close()
        places = {"log": _Lines.kept.getvalue().encode(), **self._place.contents()}
        for internal in self._service.internals:
            url = f"{internal.base_url}/internal/metrics"
            places[f"metrics of {url}"] = httpcore.request("GET", url).content
        self._stop()
        places |= {
            f"{name}, at the end": content for name, content in self._place.contents().items()
        }
        stored = "seat" if self._place.url else "pgs.db"
        assert {stored, f"{stored}, at the end"} <= places.keys()
        assert {
            place: found
            for place, content in places.items()
            if (found := shaped_like_secrets(content))
        } == {}
        assert b"event_undeclared" not in places["log"], "declare it in src/pgs/event_names.py"

    def _stop(self) -> None:
        trio.from_thread.run_sync(self._leave.set, trio_token=self._token)
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive(), "the service does not stop"
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        try:
            trio.run(self._serve)
        except BaseException as error:
            self._error = error
        finally:
            self._up.set()

    async def _serve(self) -> None:
        self._leave = trio.Event()
        self._token = trio.lowlevel.current_trio_token()
        async with in_process(self._place, **self._settings) as self._service:
            self._up.set()
            await self._leave.wait()

    def do(self, work: Callable[..., Awaitable[T]], *args: Any, **named: Any) -> T:
        """Run `work(service, …)` in the service's own trio run and return its result."""
        return trio.from_thread.run(
            partial(work, self._service, *args, **named), trio_token=self._token
        )

    def partner(self, **how: Any) -> Partner:
        """Return a new partner that can launch."""
        return self.do(Service.partner, f"partner-{next(self._numbers)}", **how)

    def account(self, partner: Partner, command: Any) -> Any:
        """Return the reply of a partner's account to a command."""
        return self.do(Service.account, partner.partner_id, command)

    def drain(self, partner: Partner) -> None:
        """Empty a partner's bucket."""

        async def work(service: Service) -> None:
            drain(service.core_of(partner.partner_id), partner.partner_id)

        self.do(work)
