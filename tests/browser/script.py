"""A Game API in the test's hands: what the frame asks is answered in the browser's network layer, and the socket is the test's own."""

import json
from typing import Any, Final

from playwright.sync_api import Page, Route, WebSocketRoute

from tests.browser.chromium import PATIENCE_MS

_PIXEL: Final = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

THEME: Final = {
    "environment": "test",
    "displayName": "Night Games",
    "primaryColor": "#ffcc00",
    "backgroundColor": "#101418",
    "textColor": "#f0f0f0",
    "cornerRadius": 16,
    "logo": {"mime": "image/png", "base64": _PIXEL},
}

CHESS: Final = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


def empty(rows: int, columns: int) -> list[list[int | None]]:
    """A board without a mark."""
    return [[None] * columns for _ in range(rows)]


def snapshot(
    game_id: str, state: dict[str, Any], moves: list[str], **fields: Any
) -> dict[str, Any]:
    """A match in which the player is to move."""
    return {
        "type": "snapshot",
        "matchId": "mat_1",
        "gameId": game_id,
        "seq": 1,
        "ply": 0,
        "you": 0,
        "turn": 0,
        "state": state,
        "legalMoves": moves,
        "opponent": {"playerId": "bob", "connected": True},
    } | fields


class GameServer:
    """The other end of the frame's socket: every handshake is one of `sockets`, every message of the frame one of `heard`."""

    def __init__(self, page: Page, **session: Any) -> None:
        self._page = page
        self.sockets: list[WebSocketRoute] = []
        self.heard: list[dict[str, Any]] = []
        self.checks = 0
        self.status = 200
        self._session = {
            "playerId": "alice",
            "environment": "test",
            "gameId": "x",
            "expiresAt": 4_000_000_000,
            "theme": THEME,
        } | session
        page.route("**/game/session", self._check)
        page.route_web_socket("**/game/socket", self._open)

    def _check(self, route: Route) -> None:
        self.checks += 1
        route.fulfill(
            status=self.status,
            content_type="application/json",
            body=json.dumps(self._session if self.status == 200 else {}),
        )

    def _open(self, socket: WebSocketRoute) -> None:
        socket.on_message(lambda text: self.heard.append(json.loads(text)))
        self.sockets.append(socket)
        socket.send('{"type":"welcome"}')

    def say(self, message: dict[str, Any]) -> None:
        """Send a message on the newest socket."""
        self.sockets[-1].send(json.dumps(message))

    def close(self, code: int) -> None:
        """Close the newest socket."""
        self.sockets[-1].close(code=code)

    def wait(self, kind: str, count: int = 1) -> dict[str, Any]:
        """The last of that many messages of a kind, once they have come."""
        waited = 0.0
        while len(found := [message for message in self.heard if message["type"] == kind]) < count:
            assert waited < PATIENCE_MS, f"heard only {self.heard}"
            self._page.wait_for_timeout(20)
            waited += 20
        return found[count - 1]
