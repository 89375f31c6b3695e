"""Services that the tests of this folder share. A test that disturbs a service starts its own.

Every journey runs on four kinds of installation: see `places.py`, and `alone.py` for the few that
do not.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.journeys.admin_client import AdminClient, open_admin
from tests.journeys.alone import complain
from tests.journeys.client import SyncClient
from tests.journeys.partners import Partner
from tests.journeys.places import NODES, Kind, NewPlace, Place, patient_calls, patient_nodes
from tests.journeys.service import SharedService
from tests.journeys.ways import is_needed

if TYPE_CHECKING:
    from tests.journeys.databases import Databases
    from tests.journeys.installation import Seeded
    from tests.postgres import Server


_ELSEWHERE = [pytest.mark.postgres, pytest.mark.slow, pytest.mark.installation]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what `ways.py` does not need; refuse journeys without a reason in `alone.py`."""
    left_out = [item for item in items if not is_needed(item)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if is_needed(item)]
    here = Path(__file__).parent
    for item in items:
        if item.path.parent == here and isinstance(item, pytest.Function):
            complaint = complain(item.path.name, item.originalname, item.fixturenames)
            if complaint:
                raise pytest.UsageError(f"{item.nodeid}: {complaint}")


@pytest.fixture(
    scope="session",
    params=[pytest.param(kind, marks=_ELSEWHERE if kind != "sqlite" else []) for kind in NODES],
)
def installation(request: pytest.FixtureRequest) -> Kind:
    """The kind of installation on which a journey runs."""
    found: Kind = request.param
    return found


@pytest.fixture(scope="session")
def databases(
    installation: Kind, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> "Databases | None":
    """Databases for the journeys that run on PostgreSQL."""
    if installation == "sqlite":
        return None
    from tests.journeys.databases import Databases  # most runs need no driver

    return Databases(request.getfixturevalue("postgres"), tmp_path_factory.mktemp("filled"))


@pytest.fixture(scope="session")
def new_place(
    installation: Kind, databases: "Databases | None", tmp_path_factory: pytest.TempPathFactory
) -> NewPlace:
    """Makes the place of a service that many tests share."""
    return lambda name: Place(tmp_path_factory.mktemp(name), installation, databases)


@pytest.fixture
def place(installation: Kind, databases: "Databases | None", tmp_path: Path) -> Iterator[Place]:
    """The place of a test's own service."""
    with nullcontext() if databases is None else databases.lent():
        yield Place(tmp_path, installation, databases)


@pytest.fixture(autouse=True)
def _patience(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let no journey depend on how fast a service works, or how fast its nodes beat."""
    runs_anywhere = "installation" in request.fixturenames
    is_among_nodes = runs_anywhere and NODES[request.getfixturevalue("installation")]
    with patient_calls(), patient_nodes() if is_among_nodes else nullcontext():
        yield


@pytest.fixture(scope="session")
def shared(new_place: NewPlace) -> Iterator[SharedService]:
    """A service for both environments."""
    service = SharedService(new_place("shared"))
    service.start()
    yield service
    service.stop()


@pytest.fixture(scope="session")
def without_lane(new_place: NewPlace) -> Iterator[SharedService]:
    """A service for both environments that leaves every request to hypercorn."""
    service = SharedService(new_place("without-lane"), lane="off")
    service.start()
    yield service
    service.stop()


@pytest.fixture(scope="session")
def live_only(new_place: NewPlace) -> Iterator[SharedService]:
    """A service that is restricted to live."""
    service = SharedService(new_place("live"), restrict_environment="live")
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
async def admin(place: Place) -> AsyncIterator[AdminClient]:
    """An account with its first admin, whose step-up window is fresh."""
    async with open_admin(place) as opened:
        yield opened


@pytest.fixture
async def seeded(tmp_path: Path, postgres: "Server") -> "Seeded":
    """A database of PostgreSQL with partners, for the nodes that a test starts."""
    # Imported here, because most runs need no driver.
    from tests.journeys.installation import seed

    return await seed(tmp_path, postgres.new_database())
