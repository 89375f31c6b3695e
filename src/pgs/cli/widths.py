"""Keeps ids and other single words whole on narrow terminals."""

from collections.abc import Iterator

from rich.console import Console, Group, RenderableType
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

_WIDEST = 10_000
"""Columns of an imagined terminal: wider than any table, so that no cell is folded."""


def print_whole(console: Console, drawn: RenderableType) -> None:
    """Print what was drawn, without cutting a word of a table or putting a line break into it.

    A table may therefore be wider than the terminal. The terminal then wraps the lines, and an id
    can still be copied whole.
    """
    wide = console.options.update(width=_WIDEST)
    for table in _tables(drawn):
        for column in table.columns:
            cells = [column.header, *column.cells]
            column.min_width = max(Measurement.get(console, wide, cell).minimum for cell in cells)
            column.no_wrap = all(" " not in _plain(cell) for cell in column.cells)
    console.width = max(console.width, Measurement.get(console, wide, drawn).minimum)
    console.print(drawn, crop=False)


def _tables(drawn: RenderableType) -> Iterator[Table]:
    if isinstance(drawn, Table):
        yield drawn
    elif isinstance(drawn, Group):
        for part in drawn.renderables:
            yield from _tables(part)


def _plain(cell: RenderableType) -> str:
    return cell.plain if isinstance(cell, Text) else str(cell)
