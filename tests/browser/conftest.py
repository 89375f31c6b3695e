"""The browser, the partner's site and the service for the tests in this folder."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from pgs.actors.messages.account.settings import AddOrigin
from pgs.domain.members import PLATFORM
from tests.browser.chromium import Tab, partner_site, running_chromium
from tests.browser.demo import running_demo
from tests.browser.members import join, open_window
from tests.browser.shown import Shown, showing
from tests.browser.visitor import Visitor
from tests.journeys.partners import Partner
from tests.journeys.service import SharedService


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedService]:
    """A service that listens on this machine only."""
    shared = SharedService(tmp_path_factory.mktemp("browser"))
    shared.start()
    yield shared
    shared.stop()


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """The origin of a partner's site."""
    with partner_site() as origin:
        yield origin


# Not for the whole session: while the browser runs, this thread has a running asyncio loop, which
# would disturb the tests in other folders.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A Chromium."""
    with running_chromium() as running:
        yield running


@pytest.fixture
def partner(service: SharedService, site: str) -> Partner:
    """A partner whose test frame the site may embed."""
    made = service.partner()
    service.account(made, AddOrigin(PLATFORM, "test", site))
    return made


@pytest.fixture
def tabs(browser: Browser) -> Iterator[list[Tab]]:
    """Two tabs, each a browser profile of its own."""
    contexts = [browser.new_context() for _ in range(2)]
    yield [Tab(context.new_page()) for context in contexts]
    for context in contexts:
        context.close()


@pytest.fixture
def shown(
    browser: Browser,
    service: SharedService,
    partner: Partner,
    site: str,
    request: pytest.FixtureRequest,
) -> Iterator[Shown]:
    """A frame that shows what the test wants. The parameter is a game and a locale, or a game."""
    given = getattr(request, "param", "tic-tac-toe")
    game, locale = (given, "en-US") if isinstance(given, str) else given
    base = service.client.base_url
    with showing(browser, base, partner.partner_id, site, game, locale=locale) as frame:
        yield frame


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """A demo that has told its story."""
    with running_demo(tmp_path_factory.mktemp("demo")) as running:
        yield running


@pytest.fixture(scope="module")
def admin_window(demo: dict[str, str]) -> None:
    """The window for codes, open for the calls that the tests make as the demo's admin."""
    open_window(demo)


@pytest.fixture(scope="module")
def admin(browser: Browser, demo: dict[str, str]) -> Iterator[Visitor]:
    """The demo's admin, on the page Home, who has given no code yet."""
    visitor = Visitor(browser, demo)
    visitor.open("/portal")
    visitor.sign_in()
    visitor.stands_at("Home")
    yield visitor
    visitor.close()


@pytest.fixture(scope="module")
def viewer(browser: Browser, demo: dict[str, str], admin_window: None) -> Iterator[Visitor]:
    """A viewer of the demo's account."""
    visitor = join(browser, demo, "viewer")
    yield visitor
    visitor.close()
