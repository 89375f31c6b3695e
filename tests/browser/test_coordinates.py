"""The coordinates on the boards name the cells that they stand on."""

from typing import Any, Final

import pytest

from tests.browser.positions import GAMES
from tests.browser.scripted_server import snapshot
from tests.browser.shown import Shown

pytestmark = pytest.mark.browser

COORDINATES: Final = """() => {
  const boxOf = (element) => {
    const { left, right, top, bottom } = element.getBoundingClientRect();
    return { left, right, top, bottom };
  };
  const seen = (element) => {
    const { content, visibility } = getComputedStyle(element, '::after');
    return visibility === 'visible' ? content.replaceAll('"', '') : '';
  };
  const of = (selector, text) =>
    [...document.querySelectorAll(selector)].map((one) => ({ text: text(one), ...boxOf(one) }));
  return {
    cells: of('.board [data-cell]', (cell) => cell.dataset.cell),
    marks: of('.board .co', seen),
  };
}"""
"""The cells with their ids, and the coordinates as they are printed, all with their boxes."""


def _cell_at(cells: list[dict[str, Any]], mark: dict[str, Any]) -> str:
    """Return the cell on which a coordinate stands, or the one right above it."""
    x, y = (mark["left"] + mark["right"]) / 2, (mark["top"] + mark["bottom"]) / 2
    above = [cell for cell in cells if cell["left"] <= x < cell["right"] and cell["top"] <= y]
    nearest = max(above, key=lambda cell: cell["top"])
    assert y < nearest["bottom"] + (nearest["bottom"] - nearest["top"]) / 4
    return str(nearest["text"])


@pytest.mark.parametrize("you", [0, 1])
@pytest.mark.parametrize(
    "shown", [(game, locale) for game in GAMES for locale in ("en-US", "ar")], indirect=True
)
def test_coordinates_name_their_cells_and_count_up_and_to_the_right(shown: Shown, you: int) -> None:
    game = shown.server.session["gameId"]
    state, moves = GAMES[game]
    shown.server.send(snapshot(game, state, moves, you=you))
    shown.tab.frame.locator(".plate.opp .side").wait_for()
    found = shown.document.evaluate(COORDINATES)
    cells, marks = found["cells"], found["marks"]
    for mark in marks:
        cell = _cell_at(cells, mark)
        # Connect four numbers its columns: its moves are these numbers.
        column = str(ord(cell[0]) - ord("a") + 1) if game == "connect-four" else cell[0]
        assert mark["text"] in (column, cell[1]), (mark, cell)
    # Where black plays chess, the board is turned round. All other boards stand alike.
    turned = game == "chess" and you == 1
    across = [mark["text"] for mark in sorted(marks, key=lambda one: one["left"])]
    files = [text for text in across if game == "connect-four" or text.isalpha()]
    upwards = sorted(marks, key=lambda one: -one["top"])
    ranks = [one["text"] for one in upwards if game != "connect-four" and one["text"].isdigit()]
    columns, rows = len({cell["text"][0] for cell in cells}), len({c["text"][1] for c in cells})
    first = "1" if game == "connect-four" else "a"
    in_order = [chr(ord(first) + at) for at in range(columns)]
    assert files == (in_order[::-1] if turned else in_order)
    counted = [] if game == "connect-four" else [str(at + 1) for at in range(rows)]
    assert ranks == (counted[::-1] if turned else counted)
