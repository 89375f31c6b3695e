"""Somebody at the portal, in a real browser, who can also call the admin API with its token."""

import json
import time
from typing import Any

import httpcore
from playwright.sync_api import Browser, Locator, Page, Request

from pgs.domain.totp import code_at
from tests.browser.chromium import Tab


class Visitor:
    """Somebody at the portal, in a browser profile of their own."""

    def __init__(self, browser: Browser, demo: dict[str, str], **how: Any) -> None:
        self.demo = demo
        context = browser.new_context(**{"reduced_motion": "reduce", **how})
        self.tab = Tab(context.new_page())
        self.page: Page = self.tab.page
        self.page.on("request", self._keep_token)
        self._token = ""

    def _keep_token(self, request: Request) -> None:
        if "/partner/admin/" in request.url:
            self._token = request.headers.get("authorization", self._token)

    def open(self, path: str) -> None:
        """Open a path of the portal."""
        self.page.goto(self.demo["baseUrl"] + path)

    def sign_in(self, name: str = "Dana Demo") -> None:
        """Press the button, and choose a person on the issuer's page."""
        self.press("Sign in")
        self.page.get_by_role("button", name=name).click()

    def go(self, path: str, title: str) -> None:
        """Open a page of the portal, and wait until it has read what it shows."""
        self.open(f"/portal/{path}")
        self.stands_at(title)

    def told(self, text: str) -> None:
        """Wait until the page has said what was done."""
        self.page.locator(".toast", has_text=text).wait_for()

    def answer_to(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """Return status and body of the answer to a call with the token that the page sends."""
        answer = httpcore.request(
            method,
            f"{self.demo['baseUrl']}/partner/admin/{path}",
            headers={"Authorization": self._token, "Content-Type": "application/json"},
            content=None if body is None else json.dumps(body).encode(),
        )
        return answer.status, json.loads(answer.content)

    def call(self, method: str, path: str, body: object = None) -> Any:
        """Return the body of a successful answer to a call with the token that the page sends."""
        status, told = self.answer_to(method, path, body)
        assert status == 200, told
        return told

    def give_code(self) -> None:
        """Open the windows of this sign-in with a code of the demo's authenticator."""
        code = code_at(self.demo["totpSecret"], int(time.time()))
        self.call("POST", "totp/verify", {"code": code})

    def enter(self, name: str = "Dana Demo") -> None:
        """Open the portal, choose a person on the issuer's page, and wait for its first call."""
        self.open("/portal/test/keys")
        with self.page.expect_request("**/partner/admin/account"):
            self.sign_in(name)

    def press(self, name: str, within: Locator | None = None) -> None:
        """Press a button."""
        (within or self.page).get_by_role("button", name=name, exact=True).click()

    def stands_at(self, title: str) -> None:
        """Wait until a page shows its title and the data that it has fetched."""
        self.page.get_by_role("heading", name=title, level=1).wait_for()
        self.page.locator(".answer", has_not_text="Reading").wait_for()

    def row(self, label: str) -> Locator:
        """Return a row of the keys."""
        return self.page.locator("tr[data-row]").filter(has_text=label)

    @property
    def dialog(self) -> Locator:
        """The open dialog."""
        return self.page.get_by_role("dialog")

    def confirm(self) -> None:
        """Give the code that the dialog asks for. Its sixth digit sends it."""
        self.dialog.get_by_label("Six digits").fill(
            code_at(self.demo["totpSecret"], int(time.time()))
        )

    def create_key(self, label: str) -> str:
        """Create a test key; return it. The window for codes is open."""
        self.page.get_by_label("Label of a new test key").fill(label)
        self.press("Create test key")
        return self.take_key()

    def asks_before_leaving(self) -> bool:
        """Return whether the browser asks before it leaves the document."""
        asked = self.page.evaluate(
            "!dispatchEvent(new Event('beforeunload', { cancelable: true }))"
        )
        return bool(asked)

    def take_key(self) -> str:
        """Read the key that is shown once, and close its dialog."""
        key = self.dialog.locator(".secret code").inner_text()
        self.page.keyboard.press("Escape")
        assert self.dialog.is_visible()  # a slip does not lose the key
        self.press("I have stored it")
        self.dialog.wait_for(state="hidden")
        return key

    def status_of(self, key: str) -> int:
        """Return the status with which the service answers a call with a key."""
        return httpcore.request(
            "GET",
            f"{self.demo['baseUrl']}/partner/me",
            headers={"Authorization": f"Bearer {key}"},
        ).status

    def close(self) -> None:
        """Close the browser profile."""
        self.page.context.close()
