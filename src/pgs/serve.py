"""`pgs serve`: the core behind its listeners, from the first bind to the last commit."""

import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, closing

import msgspec
import structlog
import trio

from pgs.actors.core import Core
from pgs.actors.courier import NudgePort
from pgs.actors.settlement import SettlementPort
from pgs.app import open_core, services
from pgs.clock import SystemClock, SystemRng
from pgs.config import Config
from pgs.domain.ids import ENTROPY_BYTES, REQUEST, new_id
from pgs.domain.versions import VERSIONS, ServedVersions
from pgs.http.asgi import App
from pgs.http.dispatcher import Dispatcher
from pgs.http.edge import Edge
from pgs.http.fallback import make_pages
from pgs.http.internal import InternalApp
from pgs.http.limits import ServerLimits
from pgs.http.outbound import LimitedResolver
from pgs.http.partner import ENDPOINTS
from pgs.http.server import bind, serve
from pgs.logs import configure_logs
from pgs.metrics import Metrics
from pgs.operator.protocol import serve_operator
from pgs.readiness import Readiness

# A stop takes at most, in seconds of 15: the grace for calls in flight and the application's own shutdown, the same of the internal
# listener, the actors' grace, the writer's: 5 + 2, 0.25 + 0.25, 4, 3.
GRACE_S = 5.0
INTERNAL_LIMITS = ServerLimits(max_connections=64, grace_s=0.25, shutdown_s=0.25)
# The interpreter hands the lock between loop and writer thread this often; at the default of 5 ms either waits for the other.
SWITCH_INTERVAL_S = 0.0005

log = structlog.get_logger("pgs.serve")


class Running(msgspec.Struct, frozen=True):
    """A service that takes calls. `base_url` is the public one, `internal_url` that of health and metrics."""

    core: Core
    base_url: str
    internal_url: str


@asynccontextmanager
async def running(
    config: Config,
    *,
    settlement: SettlementPort | None = None,
    outbound: NudgePort | None = None,
    resolver: trio.abc.HostnameResolver | None = None,
    versions: ServedVersions = VERSIONS,
    limits: ServerLimits | None = None,
) -> AsyncIterator[Running]:
    """Give the service with its listeners open; on leaving, drain and stop it. Raises what binding and opening the data folder raise.

    `outbound` and `resolver` stand in for the way to partners' endpoints and its look-ups: by code alone, never by a setting.
    """
    metrics, readiness, rng = Metrics(), Readiness(), SystemRng()
    limits = limits or ServerLimits(grace_s=GRACE_S)
    stop, stop_internal = trio.Event(), trio.Event()

    def new_request_id() -> str:
        return new_id(REQUEST, rng.bytes(ENTROPY_BYTES))

    def edge(app: App) -> Edge:
        return Edge(app, new_request_id=new_request_id, current_version=versions.current, on_event=metrics.on_event)

    trio.socket.set_custom_hostname_resolver(resolver or LimitedResolver())
    async with AsyncExitStack() as stack:
        # Both addresses are taken first, so that a taken one is told before anything is touched; closing a served socket again is harmless.
        public = stack.enter_context(closing(_bind(config.listen)))
        internal = stack.enter_context(closing(_bind(config.internal_listen)))
        core = await stack.enter_async_context(
            open_core(config, rng=rng, settlement=settlement, outbound=outbound, on_event=metrics.on_event)
        )
        metrics.watch(core)
        # The internal listener outlives the public one: it is what tells that the service is draining.
        async with trio.open_nursery() as outer:
            internal_app = InternalApp(ready=readiness.why_not, scrape=metrics.scrape, refresh=core.parts.registry.refresh)
            (internal_url,) = await _listen(outer, edge(internal_app), internal, stop_internal, INTERNAL_LIMITS, metrics)
            try:
                async with trio.open_nursery() as nursery:
                    base_url = config.base_url or f"http://{_address(public)}"
                    context = services(core, config, base_url, versions, metrics.on_request)
                    app = Dispatcher(context, ENDPOINTS, make_pages())
                    await _listen(nursery, edge(app), public, stop, limits, metrics)
                    operator = trio.CancelScope()
                    await nursery.start(_operate, operator, core, config)
                    readiness.started(core)
                    log.info("started", base_url=base_url, data_dir=str(config.data_dir))
                    try:
                        yield Running(core, base_url, internal_url)
                    finally:
                        readiness.draining()
                        log.info("draining")
                        core.parts.bells.ring_all()
                        core.parts.deliveries.begin_drain()
                        operator.cancel()
                        stop.set()
            finally:
                stop_internal.set()
    log.info("stopped")


def _bind(listen: str) -> socket.socket:
    try:
        return bind(listen)
    except OSError as error:
        raise OSError(error.errno, f"cannot listen on {listen}: {error.strerror}") from error


async def _listen(
    nursery: trio.Nursery, app: Edge, sock: socket.socket, stop: trio.Event, limits: ServerLimits, metrics: Metrics
) -> list[str]:
    async def run(task_status: trio.TaskStatus[list[str]]) -> None:
        await serve(app, [sock], stop=stop, limits=limits, on_event=metrics.on_event, task_status=task_status)

    urls: list[str] = await nursery.start(run)
    return urls


async def _operate(scope: trio.CancelScope, core: Core, config: Config, task_status: trio.TaskStatus[None]) -> None:
    with scope:
        await serve_operator(core, config.data_dir, task_status=task_status)


def _address(sock: socket.socket) -> str:
    host, port, *_ = sock.getsockname()
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


async def _until_signalled(config: Config) -> None:
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async with running(config) as service:
            sys.stdout.write(f"pgs is ready: {service.base_url} (internal {service.internal_url}, data {config.data_dir})\n")
            sys.stdout.flush()
            async for _ in signals:
                return


def run(config: Config) -> int:
    """Serve until SIGINT or SIGTERM; return the exit code."""
    configure_logs(config.log_level, SystemClock())
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    trio.run(_until_signalled, config)
    return 0
