"""A service in this process with the demo's partner, for tests of the demo and the README."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from pgs.actors.seating.settlement_actor import EmbeddedSettlement
from pgs.clock import SystemClock, SystemRng
from pgs.config import Config
from pgs.demo.admin import PEOPLE, make_admin
from pgs.demo.certificates import Authority
from pgs.demo.folder import DemoFile, write_demo_file
from pgs.demo.inbox import Inbox, open_inbox
from pgs.demo.loopback import HOOKS_HOST, LoopbackResolver, loopback_outbound
from pgs.demo.partner import add_webhook, make_partner
from pgs.devissuer.issuer import DevelopmentIssuer, development_issuer
from pgs.serve import RunningService, running
from tests.journeys.admin_client import issuer_key


@asynccontextmanager
async def demo_service(folder: Path) -> AsyncIterator[tuple[RunningService, DemoFile, Inbox]]:
    """Yield a running service, the content of its `demo-data/demo.json`, and its inbox."""
    data = folder / "demo-data"
    clock = SystemClock()
    authority = Authority(clock.now())
    outbound, resolver = loopback_outbound(authority), LoopbackResolver(HOOKS_HOST)
    async with (
        open_inbox(authority, clock) as inbox,
        development_issuer(PEOPLE, clock, SystemRng(), key=issuer_key()) as issuer,
        running(
            _config(data, issuer),
            settlement=EmbeddedSettlement(0.2),
            outbound=outbound,
            resolver=resolver,
        ) as service,
    ):
        partner = await make_partner(service.core)
        inbox.secret = await add_webhook(service.core, inbox.url)
        admin = await make_admin(service.core, partner, issuer)
        content = DemoFile(
            service.base_url,
            service.internal_url,
            partner.partner_id,
            partner.test_key,
            partner.live_key,
            issuer=issuer.issuer,
            admin_token=admin.token,
            totp_secret=admin.totp_secret,
            webhook_url=inbox.url,
            site_url="none",
        )
        write_demo_file(data, content)
        yield service, content, inbox


def _config(data: Path, issuer: DevelopmentIssuer) -> Config:
    return Config(
        listen="127.0.0.1:0",
        internal_listen="127.0.0.1:0",
        data_dir=data,
        identity_issuer=issuer.issuer,
        identity_client_id=issuer.client_id,
    )
