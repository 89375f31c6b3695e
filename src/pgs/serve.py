"""The service with its listeners, from the first bind to the last commit."""

import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import (
    ExitStack,
    asynccontextmanager,
    closing,
    contextmanager,
)
from functools import partial

import msgspec
import structlog
import trio

from pgs.actors.core import Core
from pgs.actors.maintenance.registers import refresh_registry
from pgs.actors.ports import NudgePort, SettlementPort
from pgs.app import open_core, portal_url
from pgs.clock import Clock, SystemClock, SystemRng
from pgs.config import Config
from pgs.domain.hosts import read_suffixes
from pgs.domain.ids import REQUEST, Ids
from pgs.domain.versions import VERSIONS, ServedVersions
from pgs.file_permissions import kept_files, warn_of_open
from pgs.http.api.dispatcher import Dispatcher
from pgs.http.api.routes import body_limits
from pgs.http.api.services import Services
from pgs.http.endpoint_table import ENDPOINTS
from pgs.http.identity.verifier import IdentityVerifier
from pgs.http.internal import Answering, InternalApp
from pgs.http.nodes.operator_commands import AGAIN_PATH, COMMAND_BYTES, COMMANDS_PATH
from pgs.http.nodes.owners import Owners
from pgs.http.outbound.resolver import LimitedResolver
from pgs.http.transport.asgi import App, OnEvent
from pgs.http.transport.edge import DEFAULT_BODY_BYTES, Edge
from pgs.http.transport.limits import ServerLimits
from pgs.http.transport.listener import Listener, address_of, listening
from pgs.http.transport.server import bind
from pgs.http.transport.sockets import TELL_S, OpenSockets
from pgs.logs import Lines
from pgs.metrics import Metrics
from pgs.operator.unix_socket import serve_operator
from pgs.public import among_nodes, commanding_nodes, make_public_app, make_verifier
from pgs.service_readiness import Readiness
from pgs.storage.transactions import StoreOutage

STOP_S = 15.0
"""Seconds that a stop may take: half of what the systemd unit allows. No step of a stop uses it; a
test compares it with the sum of the bounds of all steps."""

GRACE_S = 5.0
"""Seconds for calls in flight when the service stops. Part of the 15 s that a stop may take."""

HAND_OVER_S = 2.0
"""Seconds in which a node that stops hands its shards over. They are part of `GRACE_S`, because
calls of shards that were handed over are refused at once and need no grace period."""

INTERNAL_LIMITS = ServerLimits(max_connections=64, grace_s=0.25, shutdown_s=0.25)
"""Limits of the internal listener. `max_connections`: connections at the same time, enough for a
few probes. `grace_s`, `shutdown_s`: seconds that a stop waits for requests in flight, and then for
the application; few, because nobody waits for a probe's answer."""

_WILDCARDS = ("http://0.0.0.0:", "http://[::]:")

log = structlog.get_logger("pgs.serve")


class RunningService(msgspec.Struct, frozen=True):
    """A service that takes calls.

    `base_url` is the public address, `internal_url` that of health and metrics, and `listening`
    the address that the public listener is bound to.
    """

    core: Core
    base_url: str
    internal_url: str
    listening: str


@asynccontextmanager
async def running(
    config: Config,
    *,
    settlement: SettlementPort | None = None,
    outbound: NudgePort | None = None,
    resolver: trio.abc.HostnameResolver | None = None,
    versions: ServedVersions = VERSIONS,
    clock: Clock | None = None,
    limits: ServerLimits | None = None,
    lines: Lines | None = None,
    owners: Owners | None = None,
) -> AsyncIterator[RunningService]:
    """Yield the service with its listeners open; when the block ends, drain and stop it.

    Only tests and the demo give `outbound` and `resolver`; no setting does. Only tests give
    `owners`, which then says which node owns a shard, in place of the node's keeper. Raises what
    binding the listeners and `open_core` raise.
    """
    metrics, readiness = Metrics(), Readiness()
    on_public_event = readiness.listening(metrics.on_event)
    sockets = OpenSockets(metrics.on_event)
    edge = _edges(clock or SystemClock(), versions, metrics, lines)
    _prepare_look_ups(resolver)
    with _bound(config) as (public, internal):
        inside = _make_internal_app(metrics, readiness)
        # The internal listener opens before the core and stops only after the public listener, so
        # that readiness can answer `starting` and `draining`.
        async with (
            listening(
                edge(inside), internal, INTERNAL_LIMITS, metrics.on_event
            ) as internal_listener,
            open_core(
                config,
                settlement=settlement,
                outbound=outbound,
                versions=versions,
                clock=clock,
                on_event=metrics.on_event,
                on_settlement_call=metrics.on_settlement_call,
            ) as core,
        ):
            metrics.watch(core, lambda: sockets.count, lines.lost if lines else lambda: 0)
            service = _service(core, config, internal_listener.url, public)
            services = _services(service, config, metrics, owners or core.shards)
            verifier = _keep_keys(make_verifier(config, core), core, readiness)
            app = make_public_app(services, config, verifier, sockets)
            try:
                async with (
                    _listening(config, edge, app, services, public, limits, on_public_event),
                    _operating(service.core, config) as operator,
                ):
                    _tell_started(service, config, readiness)
                    try:
                        yield service
                    finally:
                        operator.cancel()
                        await _drain(core, app, sockets, readiness)
            finally:
                internal_listener.stop.set()  # before the core closes: metrics read it
    log.info("stopped")


def _service(
    core: Core, config: Config, internal_url: str, public: socket.socket
) -> RunningService:
    """Return the service. Without `PGS_BASE_URL` its address is the listener's own."""
    here = f"http://{address_of(public)}"
    base_url = config.base_url or here
    known = "" if base_url.startswith(_WILDCARDS) else base_url
    core = msgspec.structs.replace(core, portal_url=portal_url(config, known))
    return RunningService(core, base_url, internal_url, here)


def _services(
    service: RunningService, config: Config, metrics: Metrics, owners: Owners | None
) -> Services:
    core, url = service.core, service.base_url
    return Services(core, url, config.restricted_to, metrics.on_request, owners)


def _prepare_look_ups(resolver: trio.abc.HostnameResolver | None) -> None:
    read_suffixes()
    trio.socket.set_custom_hostname_resolver(resolver or LimitedResolver())


def _make_internal_app(metrics: Metrics, readiness: Readiness) -> InternalApp:
    return InternalApp(
        ready=readiness.why_not,
        scrape=metrics.scrape,
        refresh=lambda: _refresh(readiness),
        notes=readiness.notes,
        shards=lambda: _answering(readiness),
    )


def _answering(readiness: Readiness) -> Answering | None:
    kept = None if readiness.core is None else readiness.core.shards
    return None if kept is None else Answering(kept.me.name, kept.answering())


def _edges(
    clock: Clock, versions: ServedVersions, metrics: Metrics, lines: Lines | None
) -> Callable[[App], Edge]:
    """Return a function that wraps an application in the edge."""
    ids = Ids(clock.now_ms, SystemRng().bytes)
    body_limit = body_limits(
        ENDPOINTS, DEFAULT_BODY_BYTES, dict.fromkeys((COMMANDS_PATH, AGAIN_PATH), COMMAND_BYTES)
    )
    return lambda app: Edge(
        app,
        new_request_id=partial(ids.new, REQUEST),
        current_version=versions.current,
        on_event=metrics.on_event,
        body_limit=body_limit,
        log_request=lines.request if lines else None,
    )


async def _refresh(readiness: Readiness) -> None:
    if readiness.core is None:
        raise StoreOutage("the service is starting")
    await refresh_registry(readiness.core.parts, readiness.core.directory)


@asynccontextmanager
async def _listening(
    config: Config,
    edge: Callable[[App], Edge],
    app: Dispatcher,
    services: Services,
    public: socket.socket,
    limits: ServerLimits | None,
    on_event: OnEvent,
) -> AsyncIterator[Listener]:
    """Take calls on the public listener while a block runs."""
    grace_s = GRACE_S - HAND_OVER_S if config.node_name else GRACE_S
    limits, lane = limits or ServerLimits(grace_s=grace_s), config.lane == "on"
    async with (
        among_nodes(app, services) as routed,
        listening(edge(routed), public, limits, on_event, lane=lane) as listener,
    ):
        yield listener


@contextmanager
def _bound(config: Config) -> Iterator[tuple[socket.socket, socket.socket]]:
    """Bind both listening sockets and yield them. This is done before the data folder is opened."""
    with ExitStack() as stack:
        public = stack.enter_context(closing(_bind(config.listen, "PGS_LISTEN")))
        internal = stack.enter_context(
            closing(_bind(config.internal_listen, "PGS_INTERNAL_LISTEN"))
        )
        yield public, internal


def _bind(listen: str, setting: str) -> socket.socket:
    try:
        return bind(listen)
    except OSError as error:
        why = f"cannot listen on {listen}: {error.strerror}"
        raise OSError(error.errno, f"{why}. End what listens there, or set {setting}") from error


@asynccontextmanager
async def _operating(core: Core, config: Config) -> AsyncIterator[trio.CancelScope]:
    """Take operators' commands while a block runs, or until the yielded scope is cancelled."""
    scope = trio.CancelScope()

    async def operate(task_status: trio.TaskStatus[None]) -> None:
        with scope:
            await serve_operator(core, config.data_dir, task_status=task_status)

    async with commanding_nodes(core) as core, trio.open_nursery() as nursery:
        await nursery.start(operate)
        yield scope
        scope.cancel()


def _keep_keys(
    verifier: IdentityVerifier | None, core: Core, readiness: Readiness
) -> IdentityVerifier | None:
    """Fetch the issuer's keys from now until the core stops; readiness reports failed fetches."""
    readiness.verifier = verifier
    if verifier is not None:
        core.parts.system.spawn(verifier.keep_keys)
    return verifier


def _tell_started(service: RunningService, config: Config, readiness: Readiness) -> None:
    readiness.started(service.core)
    warn_of_open(kept_files(config))
    if not config.base_url and service.base_url.startswith(_WILDCARDS):
        log.warning(
            "no_base_url",
            listening=service.listening,
            next_step="set PGS_BASE_URL: sessions tell players an address that leads nowhere",
        )
    log.info(
        "started",
        base_url=service.base_url,
        listening=service.listening,
        data_dir=str(config.data_dir),
    )


async def _drain(core: Core, app: Dispatcher, sockets: OpenSockets, readiness: Readiness) -> None:
    """Begin no new work, hand shards over, answer held calls, and tell open sockets of the stop."""
    readiness.draining()
    log.info("draining")
    if core.shards is not None:
        # This comes first, so that other nodes serve the partners while this node stops.
        with trio.CancelScope(shield=True, deadline=trio.current_time() + HAND_OVER_S):
            await core.shards.stop()
    core.parts.bells.ring_all()
    core.parts.deliveries.begin_drain()
    app.end_streams()
    # Shielded, so that sockets are told even if the block was cancelled. The deadline bounds it.
    with trio.CancelScope(shield=True, deadline=trio.current_time() + 2 * TELL_S):
        await sockets.close_all()
