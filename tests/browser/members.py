"""Calls that the portal's tests make without the browser, as the demo's admin or by its key."""

import json
import time
from typing import Any

import httpcore
from playwright.sync_api import Browser

from pgs.domain.totp import code_at
from tests.browser.visitor import Visitor

DEVI = "developer@demo.example"
"""The address of the person whom the demo's account does not know yet."""


def _call(demo: dict[str, str], method: str, path: str, token: str, body: object) -> Any:
    content = b"" if body is None else json.dumps(body).encode()
    answer = httpcore.request(
        method,
        demo["baseUrl"] + path,
        headers={"Authorization": f"Bearer {token}"},
        content=content,
    )
    return json.loads(answer.content) | {"_status": answer.status}


def by_admin(demo: dict[str, str], method: str, path: str, body: object = None) -> Any:
    """Return the answer to a call of the demo's admin, with its status as `_status`."""
    return _call(demo, method, f"/partner/admin/{path}", demo["adminToken"], body)


def by_key(demo: dict[str, str], method: str, path: str, body: object = None) -> Any:
    """Return the answer to a call with the demo's test key, with its status as `_status`."""
    return _call(demo, method, path, demo["testKey"], body)


def by_live_key(demo: dict[str, str], method: str, path: str, body: object = None) -> Any:
    """Return the answer to a call with the demo's live key, with its status as `_status`."""
    return _call(demo, method, path, demo["liveKey"], body)


def open_window(demo: dict[str, str]) -> None:
    """Give a code for the admin's calls. Call it once in a module, because each code works once."""
    code = code_at(demo["totpSecret"], int(time.time()))
    assert by_admin(demo, "POST", "totp/verify", {"code": code})["_status"] == 200


def seat(demo: dict[str, str], player: str, key: str, **fields: object) -> Any:
    """Return the seat that a player takes at tic-tac-toe, or its refusal."""
    body = {
        "playerId": player,
        "gameId": "tic-tac-toe",
        "tierId": "test-bronze",
        "stakeUsdCents": 100,
        "idempotencyKey": key,
    }
    return by_key(demo, "POST", "/partner/matches", body | fields)


def join(browser: Browser, demo: dict[str, str], role: str) -> Visitor:
    """Return somebody who has just joined the account. The admin's window for codes is open."""
    invited = by_admin(demo, "POST", "invites", {"email": DEVI, "role": role})
    assert invited["_status"] == 200, invited
    visitor = Visitor(browser, demo)
    visitor.open("/portal")
    visitor.sign_in("Devi Demo")
    visitor.press("Accept and go on")
    visitor.press("Do this later")
    visitor.page.get_by_role("heading", name="Home", level=1).wait_for()
    return visitor
