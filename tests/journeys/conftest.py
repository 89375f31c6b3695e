"""Services that the tests of this folder share. A test that disturbs a service starts its own."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.journeys.admin_client import AdminClient, open_admin
from tests.journeys.client import SyncClient
from tests.journeys.partners import Partner
from tests.journeys.service import SharedService


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedService]:
    """A service for both environments."""
    service = SharedService(tmp_path_factory.mktemp("shared"))
    service.start()
    yield service
    service.stop()


@pytest.fixture(scope="session")
def live_only(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedService]:
    """A service that is restricted to live."""
    service = SharedService(tmp_path_factory.mktemp("live"), restrict_environment="live")
    service.start()
    yield service
    service.stop()


@pytest.fixture
def client(shared: SharedService) -> SyncClient:
    """A client of the shared service."""
    return shared.client


@pytest.fixture
def partner(shared: SharedService) -> Partner:
    """A partner that no other test uses."""
    return shared.partner()


@pytest.fixture(scope="module")
def known(shared: SharedService) -> Partner:
    """A partner that the tests of a module share, for calls that change nothing."""
    return shared.partner()


@pytest.fixture
async def admin(tmp_path: Path) -> AsyncIterator[AdminClient]:
    """An account with its first admin, whose step-up window is fresh."""
    async with open_admin(tmp_path) as opened:
        yield opened
