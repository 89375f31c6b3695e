"""Draws the pictures of the frame in docs/frame, from positions that are given here.

Run it after a change of the frame's looks: `.venv/bin/python scripts/draw_frame.py`. It needs
Chromium. It starts no service: the browser's network layer answers what the frame asks for.
"""

import io
import json
import sys
import time
from pathlib import Path
from typing import Any, Final

from PIL import Image
from playwright.sync_api import Browser, FrameLocator, Page, Route, WebSocketRoute

ROOT: Final = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from pgs.domain.themes import DEFAULT  # noqa: E402  found by the line above
from pgs.http.api.themes import FrameTheme  # noqa: E402  as above
from pgs.http.embed.policy import FrameData, fill  # noqa: E402  as above
from tests.browser.chromium import running_chromium  # noqa: E402  as above

BUILT: Final = ROOT / "src" / "pgs" / "web" / "frame"
PICTURES: Final = ROOT / "docs" / "frame"
HOST: Final = "http://localhost:1"
SERVICE: Final = "http://127.0.0.1:1"

THEMES: Final[dict[str, dict[str, Any]]] = {
    "light": {"displayName": "Northgate"},
    "dark": {"displayName": "Northgate"},
    "themed": {
        "displayName": "Violet Club",
        "primaryColor": "#b78cff",
        "backgroundColor": "#170f2b",
        "textColor": "#efe9ff",
        "cornerRadius": 20,
    },
}

_DEFAULT_THEME: Final = FrameTheme(
    "test",
    DEFAULT.display_name,
    DEFAULT.primary_color,
    DEFAULT.background_color,
    DEFAULT.text_color,
    DEFAULT.corner_radius,
    True,
    None,
    0,
)


def _board(*rows: str) -> list[list[int | None]]:
    """Return a board from its rows, the topmost first: `a` is side 0, `b` side 1."""
    values = {"a": 0, "b": 1, ".": None}
    return [[values[letter] for letter in row] for row in reversed(rows)]


POSITIONS: Final[dict[str, dict[str, Any]]] = {
    "tic-tac-toe": {
        "state": {"board": _board("a.b", ".b.", "..a")},
        "legalMoves": ["b1", "a1", "a2", "c2", "b3"],
    },
    "connect-four": {
        "state": {
            "board": _board(".......", ".......", "......b", "....aab", "...abba", "..bbaaa"),
            "last": "g4",
        },
        "legalMoves": list("1234567"),
    },
    "reversi": {
        "state": {
            "board": _board(
                "........",
                "..b.....",
                "..abaa.a",
                "aaaabaaa",
                "..aababa",
                "...aaaa.",
                "....b...",
                "........",
            )
        },
        "legalMoves": ["a8", "b8", "d7", "e7", "d1", "e1", "f1", "g5"],
    },
    "chess": {
        "state": {
            "fen": "r1bqk2r/ppp2ppp/2np1n2/2b1p3/2B1P3/2NP1N2/PPP2PPP/R1BQK2R w KQkq - 0 6",
            "check": False,
            "last": "d7d6",
        },
        "legalMoves": ["f3d4", "f3g5", "f3h4", "f3d2", "c1g5", "a2a3", "e1g1", "f3e5"],
        "moves": ["e2e4", "e7e5", "g1f3", "b8c6", "f1c4", "f8c5", "b1c3", "g8f6", "d2d3", "d7d6"],
    },
}


class Scene:
    """A page with the frame, and the server's side of its socket."""

    def __init__(self, page: Page, theme: str, game: str) -> None:
        self.page = page
        self.sockets: list[WebSocketRoute] = []
        self._game = game
        self._theme = theme
        page.route("**/*", self._answer)
        page.route_web_socket("**/game/socket", self._open)
        page.goto(f"{HOST}/")
        self.frame.locator(".page").wait_for()
        while not self.sockets:
            page.wait_for_timeout(20)

    @property
    def frame(self) -> FrameLocator:
        return self.page.frame_locator("iframe")

    def _open(self, socket: WebSocketRoute) -> None:
        self.sockets.append(socket)
        socket.on_message(lambda _text: None)
        socket.send('{"type":"welcome"}')

    def _answer(self, route: Route) -> None:
        path = route.request.url.split("?")[0].split("/", 3)[3]
        if route.request.url.startswith(HOST):
            message = {"type": "pgs.session", "sessionToken": "t"}
            host = {"type": "pgs.host", "again": True, "lang": "en"}
            route.fulfill(
                content_type="text/html",
                body="<!doctype html><body style='margin:0;overflow:hidden'>"
                "<iframe style='border:0;display:block;width:100vw;height:100vh' "
                f"src='{SERVICE}/embed/test/acme'></iframe><script>"
                "onmessage=(e)=>{if(e.data.type==='pgs.ready'){"
                f"e.source.postMessage({json.dumps(host)},'*');"
                f"e.source.postMessage({json.dumps(message)},'*')}}}}</script>",
            )
        elif path == "game/session":
            route.fulfill(
                json={
                    "playerId": "p",
                    "playerUid": "ptr:test:acme:p",
                    "displayName": "Jonas Berg",
                    "environment": "test",
                    "gameId": self._game,
                    "theme": THEMES[self._theme],
                }
            )
        elif path == "embed/test/acme":
            template = (BUILT / "frame.en.html").read_text()
            data = FrameData("acme", "test", (HOST,), _DEFAULT_THEME)
            route.fulfill(content_type="text/html", body=fill(template, "n", data))
        else:
            route.fulfill(path=BUILT / path.rpartition("/")[2])

    def send(self, **message: Any) -> None:
        self.sockets[-1].send(json.dumps(message))

    def snapshot(self, **fields: Any) -> None:
        now = int(time.time() * 1000)
        clocks: dict[str, Any] = {"deadlineAtMs": now + 24_000}
        if self._game == "chess":
            clocks = {
                "deadlineAtMs": now + 222_000,
                "remainingMs": [222_900, 245_000],
                "incrementMs": 3_000,
            }
        self.send(
            **{
                "type": "snapshot",
                "matchId": "mat_1",
                "gameId": self._game,
                "seq": 1,
                "ply": 10,
                "you": 0,
                "turn": 0,
                "opponent": {
                    "playerId": "o",
                    "displayName": "Amara Okafor",
                    "connected": True,
                },
                "stakeUsdCents": 500,
                "prizeUsdCents": 900,
                **clocks,
                **POSITIONS[self._game],
                **fields,
            }
        )


def open_scene(browser: Browser, game: str, theme: str, size: tuple[int, int]) -> Scene:
    """Open the frame in a box of a size. `theme`: the default in `light` or `dark`, or `themed`."""
    dark = theme in ("dark", "themed")
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme="dark" if dark else "light",
    )
    return Scene(context.new_page(), theme, game)


PHONE: Final = (400, 720)
DESK: Final = (1280, 900)
_GAP: Final = 16
_COLOURS: Final = 256
"""Colours of a picture, as many as a palette holds."""

_HOVERS: Final = {
    "tic-tac-toe": '[data-cell="a1"]',
    "connect-four": '[data-cell="d3"]',
    "reversi": '[data-cell="d7"]',
    "chess": '[data-cell="g5"]',
}
"""Where the mouse points: a move is shown before it is made."""


def _shoot(browser: Browser, game: str, theme: str, size: tuple[int, int]) -> Image.Image:
    scene = open_scene(browser, game, theme, size)
    scene.snapshot()
    scene.frame.locator(".board .can").first.wait_for()
    if game == "chess":
        scene.frame.locator('[data-cell="f3"]').click()
    scene.frame.locator(_HOVERS[game]).hover()
    scene.page.wait_for_timeout(600)
    image = Image.open(io.BytesIO(scene.page.screenshot()))
    scene.page.context.close()
    return image.convert("RGB")


def _save(name: str, image: Image.Image) -> None:
    path = PICTURES / f"{name}.png"
    image.quantize(_COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size // 1000} kB")


def main() -> None:
    """Draw every game in light, in dark and under a theme, and one on a wide screen."""
    PICTURES.mkdir(exist_ok=True)
    with running_chromium() as browser:
        for game in POSITIONS:
            shots = [_shoot(browser, game, theme, PHONE) for theme in THEMES]
            width, height = PHONE
            wide = len(shots) * width + (len(shots) - 1) * _GAP
            sheet = Image.new("RGB", (wide, height), "#8a8f99")
            for at, shot in enumerate(shots):
                sheet.paste(shot, (at * (width + _GAP), 0))
            _save(game, sheet)
        _save("desk", _shoot(browser, "chess", "light", DESK))


if __name__ == "__main__":
    main()
