"""A service with a partner whose frame may be embedded."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from pgs.actors.messages.account.settings import AddOrigin
from pgs.domain.environments import Environment
from pgs.domain.members import PLATFORM
from tests.journeys.places import Place
from tests.journeys.service import Service, in_process

LIVE: Final = "https://shop.example"
TEST: Final = "http://localhost:5173"

ROUTES: Final[tuple[tuple[Environment, str], ...]] = (("live", "/embed/"), ("test", "/embed/test/"))


@asynccontextmanager
async def embedding_service(where: Path | Place, **settings: Any) -> AsyncIterator[Service]:
    """Run a service with two partners: `acme` has an origin in each environment, `bare` none."""
    async with in_process(where, **settings) as service:
        await service.partner("acme")
        await service.partner("bare")
        await service.account("acme", AddOrigin(PLATFORM, "live", LIVE))
        await service.account("acme", AddOrigin(PLATFORM, "test", TEST))
        yield service


def policy(header: str | None) -> dict[str, list[str]]:
    """Return the sources of each directive of a content security policy."""
    assert header is not None
    directives = [directive.split() for directive in header.split("; ")]
    assert len({words[0] for words in directives}) == len(directives), "a directive comes twice"
    return {words[0]: words[1:] for words in directives}
