"""Who cancels a question of the portal is told of no failure, and is back where they were."""

import msgspec
import pytest
from playwright.sync_api import expect

from tests.browser.visitor import Visitor

pytestmark = pytest.mark.browser


class Act(msgspec.Struct, frozen=True):
    """An act that needs a code, on a page of the portal.

    `typed`: what is typed first, as the label of a field and a text. `button`: what is pressed
    then. `confirm`: the button of the question that follows, if one does.
    """

    path: str
    title: str
    button: str
    confirm: str | None = None
    typed: tuple[str, str] | None = None


_ACTS = (
    Act("test/keys", "API keys", "Create test key", typed=("Label of a new test key", "shop")),
    Act("test/games", "Games", "Turn off Reversi in test", "Turn Reversi off in test"),
    Act("test/origins", "Origins", "Add test origin", typed=("Origin of a", "https://a.example")),
    Act("test/webhooks", "Webhooks", "Replace the secret", "Replace the secret"),
    Act("test/theme", "Theme", "Save test theme", typed=("Name on the frame", "Shop")),
    Act("security", "Your authenticator", "Replace the authenticator"),
)


@pytest.mark.parametrize("act", _ACTS, ids=lambda act: act.path)
def test_cancel_in_the_dialog_for_a_code_shows_no_failure_and_returns_the_focus(
    admin: Visitor, act: Act
) -> None:
    admin.go(act.path, act.title)
    if act.typed is not None:
        admin.page.get_by_label(act.typed[0]).fill(act.typed[1])
    button = admin.page.get_by_role("button", name=act.button, exact=True)
    for _ in range(2):  # the act can be begun again
        button.click()
        if act.confirm is not None:
            admin.press(act.confirm, admin.dialog)
        admin.dialog.get_by_label("Six digits").wait_for()
        admin.press("Cancel", admin.dialog)
        admin.dialog.wait_for(state="hidden")
        expect(button).to_have_attribute("aria-busy", "false")
        expect(button).to_be_focused()
        expect(admin.page.locator("main").get_by_role("alert")).to_have_count(0)


def test_cancel_leaves_the_dialog_open_from_which_the_code_was_asked_for(admin: Visitor) -> None:
    admin.go("members?open=invite", "Members")
    admin.dialog.get_by_label("Address").fill("friend@demo.example")
    admin.press("Make the invite")
    admin.page.get_by_label("Six digits").wait_for()
    admin.press("Cancel", admin.dialog.filter(has_text="Six digits"))
    expect(admin.dialog.get_by_role("button", name="Make the invite")).to_be_focused()
    expect(admin.dialog.get_by_label("Address")).to_have_value("friend@demo.example")
    expect(admin.dialog.locator(".note")).to_have_count(0)
