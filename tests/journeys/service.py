"""Runs the service in the test's process: for one test, or in a thread for many tests."""

import io
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

import httpcore
import msgspec
import structlog
import trio

from pgs.actors.core import Core
from pgs.actors.ports import NudgePort, SettlementPort
from pgs.clock import Clock
from pgs.config import Config
from pgs.domain.versions import VERSIONS, ServedVersions
from pgs.http.nodes.owners import Owners
from pgs.serve import running
from tests.journeys.client import PATIENCE_S, Client, InternalClient, SyncClient
from tests.journeys.leaks import contents, shaped_like_secrets
from tests.journeys.partners import Partner, account, drain, make_partner, make_tiers

T = TypeVar("T")

THREAD = "service-under-test"


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
    listeners: dict[str, Any] = {"listen": "127.0.0.1:0", "internal_listen": "127.0.0.1:0"}
    return Config(data_dir=folder, **(listeners | settings))


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


class Service(msgspec.Struct, frozen=True):
    """A running service, and clients for both its listeners."""

    core: Core
    public: Client
    internal: InternalClient

    async def partner(self, partner_id: str = "acme", **how: Any) -> Partner:
        """Return a new partner that can launch."""
        return await make_partner(self.core, partner_id, **how)


@asynccontextmanager
async def in_process(
    folder: Path,
    *,
    settlement: SettlementPort | None = None,
    outbound: NudgePort | None = None,
    resolver: trio.abc.HostnameResolver | None = None,
    versions: ServedVersions = VERSIONS,
    clock: Clock | None = None,
    owners: Owners | None = None,
    **settings: Any,
) -> AsyncIterator[Service]:
    """Run a service for a block. It gets the tests' tiers if its folder has none."""
    clients: list[Client] = []
    try:
        async with running(
            config_for(folder, **settings),
            settlement=settlement,
            outbound=outbound,
            resolver=resolver,
            versions=versions,
            clock=clock,
            owners=owners,
        ) as service:
            if not (await service.core.parts.catalogue.current()).tiers["test"]:
                await make_tiers(service.core)
            public = Client(
                f"http://{settings['listen']}" if "listen" in settings else service.base_url
            )
            internal = InternalClient(service.internal_url)
            clients += [public, internal]
            yield Service(service.core, public, internal)
    finally:  # the clients outlive the service, so that a test can see how it ends
        with trio.CancelScope(shield=True):
            for client in clients:
                await client.aclose()


class SharedService:
    """A service in its own thread. Many tests share it, and each creates its own partners."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self._config = config_for(folder, **settings)
        self._up = threading.Event()
        self._numbers = count(1)
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name=THREAD)

    def start(self) -> None:
        """Return once the service takes calls."""
        structlog.configure(logger_factory=lambda *_: _Lines())
        self._thread.start()
        assert self._up.wait(PATIENCE_S), "the service does not start"
        if self._error is not None:
            raise self._error
        self.client = SyncClient(self._base_url)

    def stop(self) -> None:
        """Stop the service. If it ended with an exception, raise it.

        Checks that its metrics, log and files contain nothing in the format of a secret.
        """
        self.client.close()
        metrics = httpcore.request("GET", f"{self._internal_url}/internal/metrics").content
        places = {
            "metrics": metrics,
            "log": _Lines.kept.getvalue().encode(),
            **contents(self._config.data_dir),
        }
        self._stop()
        places |= {
            f"{name}, at the end": content
            for name, content in contents(self._config.data_dir).items()
        }
        assert {"metrics", "log", "pgs.db", "pgs.db-wal", "pgs.db, at the end"} <= places.keys()
        assert {
            place: found
            for place, content in places.items()
            if (found := shaped_like_secrets(content))
        } == {}
        assert b"event_undeclared" not in places["log"], "declare it in src/pgs/events.py"

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
        async with running(self._config) as service:
            if not (await service.core.parts.catalogue.current()).tiers["test"]:
                await make_tiers(service.core)
            self.core, self._base_url, self._internal_url = (
                service.core,
                service.base_url,
                service.internal_url,
            )
            self._up.set()
            await self._leave.wait()

    def do(self, work: Callable[..., Awaitable[T]], *args: Any, **named: Any) -> T:
        """Run `work(core, …)` in the service's own trio run and return its result."""
        return trio.from_thread.run(
            partial(work, self.core, *args, **named), trio_token=self._token
        )

    def partner(self, **how: Any) -> Partner:
        """Return a new partner that can launch."""
        return self.do(make_partner, f"partner-{next(self._numbers)}", **how)

    def account(self, partner: Partner, command: Any) -> Any:
        """Return the reply of a partner's account to a command."""
        return self.do(account, partner.partner_id, command)

    def drain(self, partner: Partner) -> None:
        """Empty a partner's bucket."""

        async def work(core: Core) -> None:
            drain(core, partner.partner_id)

        self.do(work)
