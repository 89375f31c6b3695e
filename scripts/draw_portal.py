#!/usr/bin/env python3
"""Draws the pictures of the portal in docs/portal, light and dark, from a running demo.

    scripts/draw_portal.py

Usage and the attempts show a month with play, which a demo that has just begun does not have.
"""

import in_venv  # noqa: F401  first: the packages below are installed in .venv

# isort: split

import io
import sys
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from PIL import Image
from playwright.sync_api import Browser

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.browser.chromium import running_chromium  # noqa: E402  found by the line above
from tests.browser.demo import running_demo  # noqa: E402  as above
from tests.browser.portal_answers import answer_figures, answer_logs  # noqa: E402  as above
from tests.browser.visitor import Visitor  # noqa: E402  as above

FOLDER: Final = ROOT / "docs" / "portal"
PAGES: Final = (
    ("usage", "test/usage", "Usage"),
    ("prices", "test/prices", "Prices"),
    ("theme", "test/theme", "Theme"),
    ("webhooks", "test/webhooks?open=att_3", "Webhooks"),
)
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
        visitor.press("Seat two test players")
        visitor.page.get_by_text("alice is to move.").wait_for()
        for number, column in _MOVES:
            frame = visitor.page.frame_locator(".player iframe").nth(number)
            frame.locator(f'[aria-label^="Column {column},"][aria-label$="playable"]').click()
        visitor.page.get_by_text("bob is to move.").wait_for()
        _shoot(visitor, "try")
        answer_figures(visitor.page)
        answer_logs(visitor.page, 40)
        for name, path, title in PAGES:
            visitor.go(path, title)
            _shoot(visitor, name)


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
        running_demo(Path(folder)) as demo,
        running_chromium("--hide-scrollbars") as browser,
    ):
        _draw(browser, demo)


if __name__ == "__main__":
    main()
