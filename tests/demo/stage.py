"""A service in this process with the demo's partner, for what is pasted against it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from pgs.actors.settlement import EmbeddedSettlement
from pgs.config import Config
from pgs.demo.folder import DemoFile, write_demo_file
from pgs.demo.partner import make_partner
from pgs.serve import Running, running


@asynccontextmanager
async def demo_service(folder: Path) -> AsyncIterator[tuple[Running, DemoFile]]:
    """Give a running service and what its `demo-data/demo.json` under `folder` says."""
    data = folder / "demo-data"
    config = Config(listen="127.0.0.1:0", internal_listen="127.0.0.1:0", data_dir=data)
    async with running(config, settlement=EmbeddedSettlement(0.2)) as service:
        partner = await make_partner(service.core)
        content = DemoFile(service.base_url, service.internal_url, partner.partner_id, partner.test_key, partner.live_key)
        write_demo_file(data, content)
        yield service, content
