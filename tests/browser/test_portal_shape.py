"""The shape of the portal's pages: nothing is cut off, at any width."""

import base64
from collections.abc import Iterator
from typing import Final, Literal

import pytest
from playwright.sync_api import Browser, FloatRect, Locator

from tests.browser.members import by_admin, by_key
from tests.browser.portal_answers import NEWEST_AT, answer_figures, answer_logs
from tests.browser.test_portal_rounds import PAGES
from tests.browser.visitor import Visitor

pytestmark = pytest.mark.browser

_WIDTHS: Final = (1440, 1280, 1024, 768, 390, 360)

_CUT: Final = """() => {
  const faults = [];
  const name = (element) => element.tagName + ' ' + element.textContent.trim().slice(0, 40);
  const isShown = (element) => element.getClientRects().length > 0;
  const right = (element) => element.getBoundingClientRect().right;
  for (const element of document.querySelectorAll('main :is(a, button, input, select)')) {
    if (!isShown(element) || element.closest('.unseen, pre') !== null) continue;
    for (let box = element.parentElement; box.id !== 'main'; box = box.parentElement) {
      const { overflowX, textOverflow } = getComputedStyle(box);
      if (overflowX === 'visible' || textOverflow === 'ellipsis') continue;
      if (right(element) > right(box) + 1) faults.push(`right: ${name(element)}`);
    }
  }
  for (const cell of document.querySelectorAll('main .even tr[data-row] > *')) {
    if (!isShown(cell)) continue;
    const [inner, outer] = [cell, cell.parentElement].map((box) => box.getBoundingClientRect());
    if (inner.top < outer.top - 1 || inner.bottom > outer.bottom + 1) {
      faults.push(`row: ${name(cell)}`);
    }
  }
  for (const text of document.querySelectorAll('main .chart text:not(.top)')) {
    if (right(text) > right(text.ownerSVGElement) + 1) faults.push(`chart: ${name(text)}`);
  }
  if (document.documentElement.scrollWidth > innerWidth) faults.push('the page scrolls sideways');
  return faults;
}"""
"""Names what is cut off: controls, cells of a log, names of a chart."""

_WRAPPED: Final = """() => {
  const texts = [];
  for (const cell of document.querySelectorAll('main tr[data-row] > :nth-child(-n + 2)')) {
    const nodes = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    while (nodes.nextNode()) {
      const range = document.createRange();
      range.selectNodeContents(nodes.currentNode);
      const tops = [...range.getClientRects()].map(({ top }) => Math.round(top));
      if (new Set(tops).size > 1) texts.push(nodes.currentNode.data);
    }
  }
  return texts;
}"""
"""Names the texts of the first two columns that have more than one line."""


@pytest.fixture(scope="module")
def admin(browser: Browser, demo: dict[str, str], admin_window: None) -> Iterator[Visitor]:
    """The demo's admin. The account also has an invite and a key with a long label."""
    invite = {"email": "somebody.with.a.long.address@demo.example", "role": "developer"}
    assert by_admin(demo, "POST", "invites", invite)["_status"] == 200
    key = {"environment": "test", "label": "The shop's second server, in the cellar"}
    assert by_admin(demo, "POST", "keys", key)["_status"] == 200
    visitor = Visitor(browser, demo)
    visitor.enter()
    yield visitor
    visitor.close()


def _faults(visitor: Visitor) -> dict[int, list[str]]:
    """Return what the page that is open cuts off, by the widths at which it does."""
    found = {}
    for width in _WIDTHS:
        visitor.page.set_viewport_size({"width": width, "height": 800})
        visitor.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => done()))")
        found[width] = visitor.page.evaluate(_CUT)
    visitor.page.set_viewport_size({"width": 1280, "height": 800})
    return {width: faults for width, faults in found.items() if faults}


@pytest.mark.parametrize(("path", "title"), PAGES)
def test_a_page_cuts_nothing_off_at_any_width(admin: Visitor, path: str, title: str) -> None:
    admin.go(path, title)
    assert _faults(admin) == {}


def test_an_opened_entry_of_a_log_cuts_nothing_off(admin: Visitor) -> None:
    attempt = admin.call("GET", "webhooks/test/attempts")["attempts"][0]
    admin.go(f"test/webhooks?open={attempt['attemptId']}", "Webhooks")
    admin.page.get_by_role("region", name="Request").wait_for()
    assert _faults(admin) == {}
    event = admin.call("GET", "events")["events"][0]
    admin.go(f"events?open={event['eventId']}", "Event log")
    admin.page.get_by_role("region", name="Detail").wait_for()
    assert _faults(admin) == {}


def test_the_page_of_a_match_cuts_nothing_off(admin: Visitor, demo: dict[str, str]) -> None:
    match_id = by_key(demo, "GET", "/partner/results")["results"][0]["matchId"]
    admin.open(f"/portal/test/matches/{match_id}")
    admin.page.get_by_role("heading", level=1, name="won against").wait_for()
    assert _faults(admin) == {}


def test_figures_and_invoices_cut_nothing_off(admin: Visitor) -> None:
    answer_figures(admin.page)
    for path, title in (
        ("test/usage", "Usage"),
        ("test/usage?by=tier", "Usage"),
        ("test/invoices", "Invoices"),
        ("test/invoice/inv_7?open=lin_20261031", "Invoice 7"),
    ):
        admin.go(path, title)
        assert _faults(admin) == {}, path
    admin.page.unroute_all()


def _on_a_phone(visitor: Visitor) -> None:
    visitor.page.set_viewport_size({"width": 360, "height": 740})


def _box(part: Locator) -> FloatRect:
    box = part.bounding_box()
    assert box is not None
    return box


def test_the_search_and_the_buttons_of_a_dialog_fill_a_phone(admin: Visitor) -> None:
    admin.go("members", "Members")
    _on_a_phone(admin)
    admin.page.keyboard.press("Control+k")
    assert _box(admin.dialog)["width"] == 360
    admin.page.keyboard.press("Escape")
    admin.press("Invite somebody")
    dialog = _box(admin.dialog)
    buttons = [_box(button) for button in admin.dialog.get_by_role("button").all()]
    assert buttons[0]["x"] == 360 - buttons[-1]["x"] - buttons[-1]["width"]
    assert dialog["width"] == 360
    admin.page.keyboard.press("Escape")


def test_choices_and_keys_keep_to_one_line(admin: Visitor) -> None:
    admin.go("members", "Members")
    admin.page.set_viewport_size({"width": 768, "height": 1024})
    assert _box(admin.page.locator(".find kbd"))["height"] < 24
    _on_a_phone(admin)
    for path, title, name in (
        ("test/webhooks", "Webhooks", "Outcome"),
        ("test/now", "Calls now", "What is listed"),
    ):
        admin.go(path, title)
        if path == "test/now":
            by_key(admin.demo, "GET", "/partner/me")
        choices = admin.page.get_by_role("group", name=name)
        choices.wait_for()
        tops = {_box(choice)["y"] for choice in choices.get_by_role("button").all()}
        assert len(tops) == 1, path


def test_what_is_wrong_with_a_price_stands_beside_its_icon_on_a_phone(admin: Visitor) -> None:
    admin.go("test/prices", "Prices")
    _on_a_phone(admin)
    admin.page.get_by_role("textbox").first.fill("5.00")
    admin.page.get_by_role("textbox").nth(1).focus()
    icon, said = (_box(admin.page.locator(f".err > {part}").first) for part in ("svg", "span"))
    assert icon["y"] < said["y"] + said["height"] / 2 < icon["y"] + 3 * icon["height"]
    assert icon["x"] + icon["width"] <= said["x"]
    undo, save = (
        _box(admin.page.locator(".save").get_by_role("button", name=name))
        for name in ("Undo", "Save test prices")
    )
    assert undo["y"] == save["y"]
    admin.press("Undo")


_GREENS: Final = """async (png) => {
  const image = new Image();
  image.src = 'data:image/png;base64,' + png;
  await image.decode();
  const context = document.createElement('canvas').getContext('2d');
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, image.width, 1);
  return Array.from({ length: image.width }, (_, x) => data[4 * x + 1]);
}"""
"""The green parts, 0 to 255, of the first line of a picture, from left to right."""


def _has_shadow(region: Locator) -> bool:
    """Return whether the colour changes towards the right edge of a table."""
    box = region.bounding_box()
    assert box is not None
    edge, top = box["x"] + box["width"], box["y"] + 8  # above the heads, below the round corner
    strip: FloatRect = {"x": edge - 14, "y": top, "width": 12, "height": 1}
    picture = region.page.screenshot(clip=strip)
    greens = region.page.evaluate(_GREENS, base64.b64encode(picture).decode())
    return bool(abs(greens[0] - greens[-1]) > 10)  # gradients are dithered by a step or two


def test_a_table_that_goes_on_to_the_right_has_a_shadow_there(admin: Visitor) -> None:
    answer_figures(admin.page)
    for path, name in (("test/usage", "day"), ("test/usage?by=tier", "game and tier")):
        for scheme in ("light", "dark"):
            admin.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
            admin.page.set_viewport_size({"width": 360, "height": 800})
            admin.go(path, "Usage")
            region = admin.page.get_by_role("region", name=f" by {name}")
            region.scroll_into_view_if_needed()
            assert _has_shadow(region), (path, scheme)
            region.evaluate("(box) => box.scrollTo(box.scrollWidth, 0)")
            assert not _has_shadow(region), (path, scheme)
            admin.page.set_viewport_size({"width": 1280, "height": 800})
            region.scroll_into_view_if_needed()
            assert not _has_shadow(region), (path, scheme)
    admin.page.emulate_media(color_scheme="light")
    admin.page.unroute_all()


def test_the_id_and_the_time_of_a_match_have_one_line_each(admin: Visitor) -> None:
    for path, title in (("test", "Home"), ("test/find", "Find a match")):
        admin.go(path, title)
        admin.page.get_by_role("region", name="Latest matches").wait_for()
        for width in (1440, 1200, 1024):
            admin.page.set_viewport_size({"width": width, "height": 800})
            assert admin.page.evaluate(_WRAPPED) == [], (path, width)
    admin.page.set_viewport_size({"width": 1280, "height": 800})


_BESIDE: Final = """(title, count) => {
  const [above, beside] = [title, count].map((element) => element.getBoundingClientRect());
  return [above.top, (beside.top + beside.bottom) / 2, above.bottom];
}"""
"""Gives the title's top, the middle of the count, and the title's bottom. All three are measured in
one layout, because charts above them change their height a moment after a resize."""


def test_the_number_of_attempts_stands_beside_their_title(admin: Visitor) -> None:
    answer_logs(admin.page, 912)
    admin.go("test/webhooks", "Webhooks")
    count = admin.page.get_by_role("status").get_by_text("912 attempts", exact=True)
    title = admin.page.get_by_role("heading", name="Attempts", exact=True)
    for width in (1440, 1280, 1024):
        admin.page.set_viewport_size({"width": width, "height": 800})
        top, middle, bottom = title.evaluate(_BESIDE, count.element_handle())
        assert top < middle < bottom, width
    admin.page.set_viewport_size({"width": 1280, "height": 800})
    admin.page.unroute_all()


_SHADOWS: Final = """() => {
  const box = document.querySelector('main .long');
  const { backgroundImage, backgroundAttachment } = getComputedStyle(box);
  const layers = backgroundImage.split('linear-gradient').length - 1;
  return [layers, backgroundAttachment, box.scrollWidth > box.clientWidth];
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_log_that_is_wider_than_its_place_has_a_shadow_where_it_goes_on(
    admin: Visitor, scheme: Literal["light", "dark"]
) -> None:
    page = admin.page
    event = {"eventId": "evt_1", "at": NEWEST_AT, "actor": "auth0|" + "5f7c" * 20, "detail": {}}
    event["action"] = "account.reactivated"
    told = {"events": [event], "nextCursor": None, "hasMore": False}
    page.route("**/partner/admin/events?*", lambda route: route.fulfill(json=told))
    page.set_viewport_size({"width": 660, "height": 800})
    admin.go("events", "Event log")
    page.locator("tr[data-row]").wait_for()
    page.emulate_media(color_scheme=scheme)
    assert page.evaluate(_SHADOWS) == [4, "local, local, scroll, scroll", True]
    page.emulate_media(forced_colors="active")
    assert page.evaluate(_SHADOWS)[0] == 0
    page.emulate_media(forced_colors="none")
    page.unroute_all()
    page.set_viewport_size({"width": 1280, "height": 800})
