#!/usr/bin/env python3
"""Draws the pictures of the portal in docs/portal, light and dark, from a running demo.

    scripts/draw_portal.py

The demo begins 27 days ago: its process has a clock that the script sets. On each day the script
plays matches with the demo's test key, and then goes on to the next one, until today.
"""

import in_venv  # the first import, because the packages below are installed in .venv

# isort: split

import io
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from PIL import Image
from playwright.sync_api import Browser

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.browser.chromium import running_chromium  # noqa: E402  found by the line above
from tests.browser.demo import running_demo  # noqa: E402  as above
from tests.browser.members import by_key  # noqa: E402  as above
from tests.browser.visitor import Visitor  # noqa: E402  as above

FOLDER: Final = ROOT / "docs" / "portal"
PAGES: Final = (
    ("usage", "test/usage", "Usage"),
    ("prices", "test/prices", "Prices"),
    ("theme", "test/theme", "Theme"),
)
DAYS: Final = 27
"""Days for which the demo has run. Its certificates are valid for 30 days."""

_DAY_S: Final = 86_400
_GAMES: Final = ("connect-four", "tic-tac-toe", "reversi")
_A_WEEK: Final = (6, 7, 6, 8, 9, 12, 11)
"""Matches on each day of the first week. Each later week has two more a day than the one before."""

_IN_THE_PAST: Final = """
import sys, time
from pathlib import Path
import pgs.clock
from pgs.__main__ import main
behind, real = Path(sys.argv.pop(1)), time.time_ns
class Behind:
    time_ns = staticmethod(lambda: real() - int(behind.read_text()) * 1_000_000_000)
pgs.clock.time = Behind
main()
"""
"""Runs `pgs` with a clock that is behind by the number of seconds in a file."""

_MOVES: Final = ((0, 4), (1, 5), (0, 3))
"""The player and the column of each move of connect four on the page where matches are tried."""

_SIZE: Final = {"width": 1200, "height": 900}
_COLOURS: Final = 128
"""Colours of a picture: few, so that it stays small."""

_SETTLED_MS: Final = 500
"""Milliseconds until the preview's board has been drawn."""


def _draw(browser: Browser, demo: dict[str, str]) -> None:
    with closing(Visitor(browser, demo, viewport=_SIZE)) as visitor:
        visitor.enter()
        visitor.go("test", "Home")
        _shoot(visitor, "home")
        visitor.go("test/try", "Try it")
        visitor.page.get_by_label("Game", exact=True).select_option(label="Connect Four")
        visitor.press("Seat two test players")
        visitor.page.get_by_text("alice is to move.").wait_for()
        for number, column in _MOVES:
            frame = visitor.page.frame_locator(".player iframe").nth(number)
            frame.locator(f'[aria-label^="Column {column},"][aria-label$="playable"]').click()
        visitor.page.get_by_text("bob is to move.").wait_for()
        _shoot(visitor, "try")
        for name, path, title in PAGES:
            visitor.go(path, title)
            _shoot(visitor, name)
        attempt = visitor.call("GET", "webhooks/test/attempts?limit=8")["attempts"][-1]
        visitor.go(f"test/webhooks?open={attempt['attemptId']}", "Webhooks")
        _shoot(visitor, "webhooks")
        invoice = visitor.call("GET", "invoices?environment=test&status=open")["invoices"][0]
        visitor.go(f"test/invoice/{invoice['invoiceId']}", f"Invoice {invoice['number']}")
        _shoot(visitor, "invoice")


def _play(demo: dict[str, str], day: int, number: int) -> str:
    """Seat two players and decide their match; return its id. Every sixth is a draw."""
    game_id = _GAMES[number % len(_GAMES)]
    tier, stake = ("test-silver", 500) if number % 4 == 0 else ("test-bronze", 100)
    seats = [
        _called(
            demo,
            "/partner/matches",
            {
                "playerId": f"{name}-{day}-{number}",
                "gameId": game_id,
                "tierId": tier,
                "stakeUsdCents": stake,
                "idempotencyKey": f"order-{day}-{number}-{name}",
            },
        )
        for name in ("kit", "wren")
    ]
    winner = None if number % 6 == 0 else seats[number % 2]["playerId"]
    decision = {"outcome": "ended", "winnerPlayerId": winner}
    match_id: str = seats[1]["matchId"]
    _called(demo, f"/partner/test/matches/{match_id}/decide", decision)
    return match_id


def _called(demo: dict[str, str], path: str, body: object) -> Any:
    """Return the answer to a call with the demo's test key; wait if the rate limit asks for it."""
    while (answer := by_key(demo, "POST", path, body))["_status"] == 429:
        time.sleep(1)
    assert answer["_status"] == 200, answer
    return answer


@contextmanager
def _demo_since(folder: Path) -> Iterator[dict[str, str]]:
    """Run a demo that began `DAYS` days ago and has played every day."""
    behind = folder / "behind"
    behind.write_text(str(DAYS * _DAY_S))
    launch = ("-c", _IN_THE_PAST, str(behind))
    with running_demo(folder, launch=launch) as demo:
        for day in range(DAYS):
            matches = _A_WEEK[day % 7] + 2 * (day // 7)
            played = [_play(demo, day, number) for number in range(matches)]
            while not all(_is_paid(demo, match_id) for match_id in played):
                time.sleep(0.1)
            # In one step: the demo reads the file whenever it looks at its clock.
            next_day = folder / "behind.new"
            next_day.write_text(str((DAYS - day - 1) * _DAY_S))
            next_day.replace(behind)
        month = time.strftime("%Y%m", time.gmtime(time.time() - DAYS * _DAY_S))
        assembled = ["invoice", "assemble", "--month", month, "--data", "demo-data", "--json"]
        command = [sys.executable, "-m", "pgs", *assembled]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        yield demo


def _is_paid(demo: dict[str, str], match_id: str) -> bool:
    """Return whether the money of a match is recorded. Until then its day is not final."""
    seats = by_key(demo, "GET", f"/partner/matches/{match_id}").get("seats", ())
    return bool(seats) and all("rakeUsdCents" in seat for seat in seats)


def _shoot(visitor: Visitor, name: str) -> None:
    """Draw the page that is shown, light and dark."""
    for scheme in ("light", "dark"):
        visitor.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        visitor.page.wait_for_timeout(_SETTLED_MS)
        shot = Image.open(io.BytesIO(visitor.page.screenshot())).convert("RGB")
        picture = FOLDER / f"{name}-{scheme}.png"
        few = shot.resize((900, 675)).quantize(_COLOURS, dither=Image.Dither.NONE)
        few.save(picture, optimize=True)
        print(f"{picture.relative_to(ROOT)}: {picture.stat().st_size // 1000} kB")


def main() -> None:
    """Draw every page."""
    FOLDER.mkdir(exist_ok=True)
    with (
        TemporaryDirectory() as folder,
        _demo_since(Path(folder)) as demo,
        running_chromium("--hide-scrollbars") as browser,
    ):
        _draw(browser, demo)


if __name__ == "__main__":
    main()
