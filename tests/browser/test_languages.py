"""The frame in the player's language: what the browser loads before the first drawing."""

from typing import Final

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.chromium import Tab
from tests.browser.scripted_server import ScriptedServer, empty, snapshot
from tests.browser.test_cards import LANGUAGES
from tests.journeys.partners import Partner
from tests.journeys.service import SharedService

pytestmark = pytest.mark.browser

YOURS: Final = {"en": "Your turn", **LANGUAGES}


def _scripts(tab: Tab) -> list[str]:
    """Return the scripts that the frame has loaded, in order."""
    loaded: list[str] = tab.page.frames[1].evaluate(
        "performance.getEntriesByType('resource').map(({ name }) => name)"
    )
    return [name for name in loaded if name.endswith(".js")]


@pytest.mark.parametrize("language", YOURS)
def test_each_language_loads_only_its_script_and_that_of_the_game(
    browser: Browser, service: SharedService, partner: Partner, site: str, language: str
) -> None:
    context = browser.new_context(locale=language)
    tab = Tab(context.new_page())
    server = ScriptedServer(tab.page)
    base = service.client.base_url
    tab.embed(site, base, f"{base}/embed/test/{partner.partner_id}", "")
    expect(tab.frame.locator(".headline").first).to_be_visible()
    assert len(_scripts(tab)) == 1
    tab.page.evaluate("window.mounted.setSessionToken('token')")
    server.wait("join")
    server.send(snapshot("tic-tac-toe", {"board": empty(3, 3)}, ["a1"]))
    tab.sees(YOURS[language])
    assert len(_scripts(tab)) == 2
    expect(tab.frame.locator("html")).to_have_attribute("lang", language)
    assert tab.errors == []
    context.close()


def test_a_language_in_the_address_is_loaded_in_place_of_the_browsers_own(
    browser: Browser, service: SharedService, partner: Partner, site: str
) -> None:
    context = browser.new_context(locale="de")
    tab = Tab(context.new_page())
    base = service.client.base_url
    tab.embed(site, base, f"{base}/embed/test/{partner.partner_id}?lang=fr-CA", "")
    expect(tab.frame.locator("html")).to_have_attribute("lang", "fr-CA")
    assert len(_scripts(tab)) == 1
    context.close()


def test_the_helper_asks_for_the_document_in_its_language(
    browser: Browser, service: SharedService, partner: Partner, site: str
) -> None:
    context = browser.new_context(locale="de")
    tab = Tab(context.new_page())
    base = service.client.base_url
    url = f"{base}/embed/test/{partner.partner_id}"
    tab.embed(site, base, url, "")
    tab.page.evaluate(
        """(embedUrl) => {
          mounted.unmount();
          const element = document.getElementById("game");
          mounted = PgsEmbed.mount(element, { embedUrl, sessionToken: "", lang: "pt-BR" });
        }""",
        url,
    )
    expect(tab.frame.locator("html")).to_have_attribute("lang", "pt-BR")
    assert len(_scripts(tab)) == 1
    context.close()
