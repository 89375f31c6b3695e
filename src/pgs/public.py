"""The application of the public listener: every endpoint, the pages, the checks of credentials."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import msgspec
import structlog

from pgs.actors.core import Core
from pgs.config import Config
from pgs.http.admin.authorization import IdentityAuthenticator
from pgs.http.api.dispatcher import Dispatcher
from pgs.http.api.services import Services
from pgs.http.embed import make_embed
from pgs.http.endpoint_table import ENDPOINTS, WEBSOCKETS
from pgs.http.game.auth import authenticate_session
from pgs.http.identity.verifier import IdentityVerifier
from pgs.http.nodes.calls import NodeCalls
from pgs.http.nodes.forwarding import Forwarding
from pgs.http.nodes.operator_commands import CommandCalls, CommandReceiver
from pgs.http.outbound.fetch import JsonClient
from pgs.http.pages import make_pages
from pgs.http.portal import read_portal
from pgs.http.transport.asgi import App
from pgs.http.transport.sockets import OpenSockets
from pgs.operator.execute import execute_for_node

log = structlog.get_logger("pgs.serve")


def make_public_app(
    services: Services, config: Config, verifier: IdentityVerifier | None, sockets: OpenSockets
) -> Dispatcher:
    """Return the application of the public listener. `sockets` holds its open game sockets."""
    portal = read_portal(config.identity_issuer, config.identity_client_id, config.token_audience)
    return Dispatcher(
        services,
        ENDPOINTS,
        make_embed(
            services,
            config.frame_url,
            make_pages(services.base_url, portal),
            for_portal=portal is not None,
        ),
        authenticators={
            "identity": IdentityAuthenticator(verifier),
            "session": authenticate_session,
        },
        websockets=WEBSOCKETS,
        sockets=sockets,
    )


@asynccontextmanager
async def among_nodes(app: Dispatcher, services: Services) -> AsyncIterator[App]:
    """Yield the application, which also forwards requests to other nodes.

    In an installation of one node it is `app` itself.
    """
    if services.owners is None:
        yield app
        return
    calls = NodeCalls()
    parts = services.parts
    commands = CommandReceiver(
        services.owners.me.name,
        lambda: parts.ring,
        parts.clock,
        partial(execute_for_node, services.core),
        parts.system.spawn,
    )
    try:
        yield Forwarding(
            app,
            services.owners,
            lambda: parts.ring,
            calls,
            parts.on_event,
            commands,
            app.sockets.closing,
        )
    finally:
        await calls.aclose()


@asynccontextmanager
async def commanding_nodes(core: Core) -> AsyncIterator[Core]:
    """Yield the core for operators' commands, which can also send commands to the other nodes.

    In an installation of one node it is `core` itself.
    """
    if core.shards is None:
        yield core
        return
    calls, parts = NodeCalls(), core.parts
    try:
        yield msgspec.structs.replace(
            core, nodes=CommandCalls(calls, lambda: parts.ring, parts.clock, parts.rng)
        )
    finally:
        await calls.aclose()


def make_verifier(config: Config, core: Core) -> IdentityVerifier | None:
    """Return the verifier of identity tokens. Without an issuer, log a warning and return None.

    Nobody can then sign in to the admin API.
    """
    if not config.identity_issuer:
        log.warning(
            "no_identity_issuer",
            next_step="set PGS_IDENTITY_ISSUER: until then nobody can sign in to the admin API",
        )
        return None
    return IdentityVerifier(
        config.identity_issuer,
        config.token_audience,
        config.identity_jwks_url or None,
        JsonClient().get,
        core.parts.clock,
        core.parts.on_event,
        config.identity_client_id,
    )
