"""A member at the portal of a running demo, who also calls the admin API with the page's token."""

import json
import time
from typing import Any

import httpcore
from playwright.sync_api import Browser, Request

from pgs.domain.totp import code_at
from tests.browser.visitor import Visitor


class PortalVisitor(Visitor):
    """A browser at the portal, with the token that its page sends."""

    def __init__(self, browser: Browser, demo: dict[str, str], **how: Any) -> None:
        super().__init__(browser, demo, **how)
        self.page.on("request", self._keep_token)
        self._token = ""

    def _keep_token(self, request: Request) -> None:
        if "/partner/admin/" in request.url:
            self._token = request.headers.get("authorization", self._token)

    def go(self, path: str, title: str) -> None:
        """Open a page of the portal, and wait until it has read what it shows."""
        self.open(f"/portal/{path}")
        self.stands_at(title)

    def sign_in(self, name: str = "Dana Demo") -> None:
        """Open the portal, and choose a person on the issuer's page."""
        self.open("/portal/test/keys")
        super().sign_in(name)
        with self.page.expect_request("**/partner/admin/account"):
            pass

    def told(self, text: str) -> None:
        """Wait until the page has said what was done."""
        self.page.locator(".toast", has_text=text).wait_for()

    def call(self, method: str, path: str, body: object = None) -> Any:
        """Return the answer to a call of the admin API with the page's token."""
        answer = httpcore.request(
            method,
            f"{self.demo['baseUrl']}/partner/admin/{path}",
            headers={"Authorization": self._token, "Content-Type": "application/json"},
            content=None if body is None else json.dumps(body).encode(),
        )
        assert answer.status == 200, answer.content
        return json.loads(answer.content)

    def give_code(self) -> None:
        """Open the windows of this sign-in with a code of the demo's authenticator."""
        code = code_at(self.demo["totpSecret"], int(time.time()))
        self.call("POST", "totp/verify", {"code": code})
