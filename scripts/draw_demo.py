#!/usr/bin/env python3
"""Draws docs/demo.png: starts the demo, plays some moves on its page, and takes a picture of it.

scripts/draw_demo.py            writes docs/demo.png
scripts/draw_demo.py FILE       writes the picture there
"""

import in_venv  # the first import, because the packages below are installed in .venv

# isort: split

import sys
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.browser.chromium import running_chromium  # noqa: E402  found by the line above
from tests.browser.demo import DemoTab, running_demo  # noqa: E402  as above

GAME = "Tic-tac-toe"
MOVES = ("b2", "a1", "c1")


def main(picture: Annotated[Path, typer.Argument()] = ROOT / "docs" / "demo.png") -> None:
    """Take the picture."""
    with (
        TemporaryDirectory() as folder,
        running_demo(Path(folder)) as demo,
        running_chromium("--hide-scrollbars") as browser,
        closing(DemoTab(browser, demo, color_scheme="light")) as tab,
    ):
        tab.page.get_by_role("button", name="New match").wait_for()
        match_id = tab.begin(GAME)
        for ply, cell in enumerate(MOVES):
            tab.both_see(match_id, ply)
            tab.player(ply % 2).locator(f'[data-cell="{cell}"]').click()
        tab.both_see(match_id, len(MOVES))
        tab.row(match_id, "site-1", "started")
        tab.page.mouse.move(0, 0)
        tab.page.screenshot(path=picture, animations="disabled", full_page=True)


if __name__ == "__main__":
    typer.run(main)
