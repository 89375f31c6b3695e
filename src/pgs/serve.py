"""`pgs serve`: the core behind its listeners, from the first bind to the last commit."""

import gc
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, closing, suppress

import msgspec
import structlog
import trio

from pgs.actors.core import Core
from pgs.actors.maintenance.upkeep import refresh_registry
from pgs.actors.ports import NudgePort, SettlementPort
from pgs.app import open_core
from pgs.clock import SystemClock, SystemRng
from pgs.config import Config
from pgs.domain.hosts import read_suffixes
from pgs.domain.ids import ENTROPY_BYTES, REQUEST, new_id
from pgs.domain.versions import VERSIONS, ServedVersions
from pgs.http.admin.gate import IdentityAuthenticator
from pgs.http.api.dispatcher import Dispatcher
from pgs.http.api.routes import body_limits
from pgs.http.api.services import Services
from pgs.http.embed import make_embed
from pgs.http.game.auth import authenticate_session
from pgs.http.identity import IdentityVerifier
from pgs.http.internal import InternalApp
from pgs.http.outbound import LimitedResolver
from pgs.http.outbound.fetch import JsonClient
from pgs.http.pages import make_pages
from pgs.http.surface import ENDPOINTS, WEBSOCKETS
from pgs.http.transport.asgi import App
from pgs.http.transport.edge import DEFAULT_BODY_BYTES, Edge
from pgs.http.transport.limits import ServerLimits
from pgs.http.transport.server import bind, serve
from pgs.http.transport.sockets import TELL_S, OpenSockets
from pgs.logs import Lines, logging_to, standard_error
from pgs.metrics import Metrics
from pgs.operator.protocol import serve_operator
from pgs.privacy import kept_files, warn_of_open
from pgs.readiness import Readiness
from pgs.storage.transactions import StoreOutage

GRACE_S = 5.0
"""Seconds for calls in flight when the service stops. A stop may take 15 s in all: sockets 0.5,
public listener 5 + 2, internal listener 0.25 + 0.25, actors 3.5, writer 3, log 0.25."""

INTERNAL_LIMITS = ServerLimits(max_connections=64, grace_s=0.25, shutdown_s=0.25)
"""Limits of the internal listener: a few probes at once, and little time at a stop, because nobody
waits for them."""

SWITCH_INTERVAL_S = 0.0005
"""Seconds after which the interpreter lets another thread run. At the default of 5 ms the event
loop and the writer thread wait for each other."""

GC_AFTER = 10_000
"""Objects allocated, net of those freed, before the garbage collector looks at the youngest. At the
default of 700 it would run fourteen times as often."""

log = structlog.get_logger("pgs.serve")


class RunningService(msgspec.Struct, frozen=True):
    """A service that takes calls. `base_url` is the public one, `internal_url` that of health and metrics, `listening` where it listens."""

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
    limits: ServerLimits | None = None,
    lines: Lines | None = None,
) -> AsyncIterator[RunningService]:
    """Give the service with its listeners open; on leaving, drain and stop it. Raises what binding and opening the data folder raise.

    `lines` is where the log goes, to be measured with everything else. `outbound` and `resolver` stand in for the way to partners'
    endpoints and its look-ups: by code alone, never by a setting.
    """
    metrics, readiness, rng = Metrics(), Readiness(), SystemRng()
    sockets = OpenSockets(metrics.on_event)
    limits = limits or ServerLimits(grace_s=GRACE_S)
    stop, stop_internal = trio.Event(), trio.Event()

    body_limit = body_limits(ENDPOINTS, DEFAULT_BODY_BYTES)

    def new_request_id() -> str:
        return new_id(REQUEST, rng.bytes(ENTROPY_BYTES))

    def edge(app: App) -> Edge:
        return Edge(
            app,
            new_request_id=new_request_id,
            current_version=versions.current,
            on_event=metrics.on_event,
            body_limit=body_limit,
        )

    read_suffixes()
    trio.socket.set_custom_hostname_resolver(resolver or LimitedResolver())

    async def refresh() -> None:
        if readiness.core is None:
            raise StoreOutage("the service is starting")
        await refresh_registry(readiness.core.parts, readiness.core.directory)

    with ExitStack() as bound:
        # Both addresses are taken first, so that a taken one is told before anything is touched; closing a served socket again is harmless.
        public = bound.enter_context(closing(_bind(config.listen, "PGS_LISTEN")))
        internal = bound.enter_context(
            closing(_bind(config.internal_listen, "PGS_INTERNAL_LISTEN"))
        )
        failure: Exception | None = None
        # The internal listener outlives the public one on both sides: it is what tells that the service is starting, or draining.
        async with trio.open_nursery() as outer:
            internal_app = InternalApp(
                ready=readiness.why_not, scrape=metrics.scrape, refresh=refresh
            )
            (internal_url,) = await _listen(
                outer, edge(internal_app), internal, stop_internal, INTERNAL_LIMITS, metrics
            )
            opening = open_core(
                config,
                rng=rng,
                settlement=settlement,
                outbound=outbound,
                versions=versions,
                on_event=metrics.on_event,
            )
            async with AsyncExitStack() as stack:
                stack.callback(stop_internal.set)
                try:
                    core = await stack.enter_async_context(opening)
                except Exception as error:
                    failure = error  # raised below, so that its caller sees it as it is, and not in the nursery's group
                else:
                    stack.callback(
                        stop_internal.set
                    )  # again: before the core closes, since its readings end with it
                    metrics.watch(core, lambda: sockets.count, lines.lost if lines else lambda: 0)
                    async with trio.open_nursery() as nursery:
                        listening = f"http://{_address(public)}"
                        base_url = config.base_url or listening
                        context = Services(core, base_url, config.restricted_to, metrics.on_request)
                        app = Dispatcher(
                            context,
                            ENDPOINTS,
                            make_embed(context, config.frame_url, make_pages()),
                            authenticators={
                                "identity": IdentityAuthenticator(_verifier(config, core)),
                                "session": authenticate_session,
                            },
                            websockets=WEBSOCKETS,
                            sockets=sockets,
                        )
                        await _listen(nursery, edge(app), public, stop, limits, metrics)
                        operator = trio.CancelScope()
                        await nursery.start(_operate, operator, core, config)
                        readiness.started(core)
                        warn_of_open(kept_files(config))
                        log.info(
                            "started",
                            base_url=base_url,
                            listening=listening,
                            data_dir=str(config.data_dir),
                        )
                        try:
                            yield RunningService(core, base_url, internal_url, listening)
                        finally:
                            readiness.draining()
                            log.info("draining")
                            core.parts.bells.ring_all()
                            core.parts.deliveries.begin_drain()
                            operator.cancel()
                            app.end_streams()
                            # Shielded: open sockets are told why they end even where this block was cancelled. It bounds itself.
                            with trio.CancelScope(
                                shield=True, deadline=trio.current_time() + 2 * TELL_S
                            ):
                                await sockets.close_all()
                            stop.set()
        if failure is not None:
            raise failure
    log.info("stopped")


def _verifier(config: Config, core: Core) -> IdentityVerifier | None:
    """Return what checks identity tokens, None where the deployment names no issuer: then nobody can sign in."""
    if not config.identity_issuer:
        log.warning(
            "no_identity_issuer",
            next_step="set PGS_IDENTITY_ISSUER: until then nobody can sign in to the admin API",
        )
        return None
    jwks_url = config.identity_jwks_url or None
    fetch = JsonClient().get
    return IdentityVerifier(
        config.identity_issuer,
        config.token_audience,
        jwks_url,
        fetch,
        core.parts.clock,
        core.parts.on_event,
    )


def _bind(listen: str, setting: str) -> socket.socket:
    try:
        return bind(listen)
    except OSError as error:
        raise OSError(
            error.errno,
            f"cannot listen on {listen}: {error.strerror}. End what listens there, or set {setting}",
        ) from error


async def _listen(
    nursery: trio.Nursery,
    app: Edge,
    sock: socket.socket,
    stop: trio.Event,
    limits: ServerLimits,
    metrics: Metrics,
) -> list[str]:
    async def run(task_status: trio.TaskStatus[list[str]]) -> None:
        await serve(
            app,
            [sock],
            stop=stop,
            limits=limits,
            on_event=metrics.on_event,
            task_status=task_status,
        )

    urls: list[str] = await nursery.start(run)
    return urls


async def _operate(
    scope: trio.CancelScope, core: Core, config: Config, task_status: trio.TaskStatus[None]
) -> None:
    with scope:
        await serve_operator(core, config.data_dir, task_status=task_status)


def _address(sock: socket.socket) -> str:
    host, port, *_ = sock.getsockname()
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def tune_garbage_collector() -> None:
    """Leave everything that now lives out of the garbage collector's rounds; for a process that does nothing but serve.

    A started service has some 85,000 objects, nearly all of them modules and types that stay. A full round over them took 42 ms, in
    which nobody is answered; without them it takes next to nothing.

    The rounds over young objects come less often, too. With 150 deliveries hanging they took 1 % of the time, in pauses of up to 12 ms;
    now a twentieth of that. What they would free waits longer, and deliveries leave nothing to free.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(GC_AFTER)


def _say(text: str) -> None:
    """Write to standard output, past its buffer, which would fail once more at the end; nobody has to be there to read it."""
    if sys.stdout is not None:
        with suppress(OSError):
            os.write(sys.stdout.fileno(), os.fsencode(text))  # a folder's name may be no UTF-8


async def _until_signalled(config: Config, lines: Lines) -> None:
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async with running(config, lines=lines) as service:
            tune_garbage_collector()
            at = (
                ""
                if service.base_url == service.listening
                else f"listening on {service.listening}, "
            )
            _say(
                f"pgs is ready: {service.base_url} ({at}internal {service.internal_url}, data {config.data_dir})\n"
            )
            async for _ in signals:
                return


def run(config: Config) -> int:
    """Serve until SIGINT or SIGTERM; return the exit code."""
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    with logging_to(standard_error(), config.log_level, SystemClock()) as lines:
        trio.run(_until_signalled, config, lines)
    return 0
