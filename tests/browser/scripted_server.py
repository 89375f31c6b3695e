"""A scripted Game API. It answers in the browser's network layer: the service gets no request.

The test sends what the server would send on the socket, and reads what the frame has sent.
"""

import json
import time
from base64 import b64decode
from typing import Any, Final
from urllib.parse import urlsplit

from playwright.sync_api import Page, Route, WebSocketRoute

from tests.browser.chromium import WAIT_MAX_MS

_PIXEL: Final = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
"""A PNG image of one pixel, in base64."""

THEME: Final = {
    "environment": "test",
    "displayName": "Night Games",
    "primaryColor": "#ffcc00",
    "backgroundColor": "#101418",
    "textColor": "#f0f0f0",
    "cornerRadius": 16,
    "logo": {"mime": "image/png", "url": "/embed/logo.png"},
}

SESSION: Final[dict[str, Any]] = {
    "playerId": "alice",
    "environment": "test",
    "gameId": "x",
    "expiresAt": 4_000_000_000,
    "theme": THEME,
}

CHESS_START: Final = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


def empty(rows: int, columns: int) -> list[list[int | None]]:
    """Return an empty board."""
    return [[None] * columns for _ in range(rows)]


def snapshot(
    game_id: str, state: dict[str, Any], legal: list[str], **fields: Any
) -> dict[str, Any]:
    """Return the snapshot of a match in which the player is to move."""
    return {
        "type": "snapshot",
        "matchId": "mat_1",
        "gameId": game_id,
        "seq": 1,
        "ply": 0,
        "you": 0,
        "turn": 0,
        "state": state,
        "legalMoves": legal,
        "opponent": {"playerId": "bob", "connected": True},
    } | fields


class ScriptedServer:
    """The server for the frame in one page."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self.sockets: list[WebSocketRoute] = []
        """Every socket that the frame has opened, the newest last."""
        self.received: list[dict[str, Any]] = []
        """Every message of the frame, on any socket."""
        self.session_calls = 0
        self.session = dict(SESSION)
        """What the session call answers. The partner is added from the document's address."""
        self.session_headers: dict[str, str] = {}
        self.session_answered_at_ms = 0.0
        """When the session call was last answered, on this machine's clock."""
        page.route("**/game/session", self._answer_session)
        page.route("**/embed/logo.png", self._answer_logo)
        page.route_web_socket("**/game/socket", self._open)

    def _answer_session(self, route: Route) -> None:
        self.session_calls += 1
        partner = urlsplit(route.request.frame.url).path.rpartition("/")[2]
        self.session_answered_at_ms = time.time() * 1000
        answer = {"playerUid": f"ptr:test:{partner}:alice"} | self.session
        route.fulfill(json=answer, headers=self.session_headers)

    def _answer_logo(self, route: Route) -> None:
        route.fulfill(body=b64decode(_PIXEL), content_type="image/png")

    def _open(self, socket: WebSocketRoute) -> None:
        socket.on_message(lambda text: self.received.append(json.loads(text)))
        self.sockets.append(socket)
        socket.send('{"type":"welcome"}')

    def send(self, message: dict[str, Any]) -> None:
        """Send a message of the server on the newest socket."""
        self.sockets[-1].send(json.dumps(message))

    def close(self, code: int) -> None:
        """Close the newest socket."""
        self.sockets[-1].close(code=code)

    def wait(self, kind: str, count: int = 1) -> dict[str, Any]:
        """Wait until the frame has sent `count` messages of a type. Return the last of these."""
        waited = 0.0
        while len(found := [one for one in self.received if one["type"] == kind]) < count:
            assert waited < WAIT_MAX_MS, f"received only {self.received}"
            self._page.wait_for_timeout(20)
            waited += 20
        return found[count - 1]
