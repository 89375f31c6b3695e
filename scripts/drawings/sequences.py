"""Draws a sequence of steps between lanes, one step below the other."""

from collections.abc import Sequence
from typing import NamedTuple

from drawings.svg import Drawing, wrap

LANE = 172
HEAD, STEP, MARGIN = 58, 46, 16
NOTE_LINES, ARROW_LINES = 3, 2


class Lane(NamedTuple):
    """One column: a name and, below it, the file or folder where it is found."""

    name: str
    where: str


class Step(NamedTuple):
    """One arrow, or a note in one lane if `start` and `end` are the same lane."""

    start: str
    end: str
    text: str
    later: bool = False  # drawn dashed: the sender does not wait for it


def draw_sequence(title: str, lanes: Sequence[Lane], steps: Sequence[Step]) -> Drawing:
    """Return the picture. The steps are numbered from 1."""
    width = 2 * MARGIN + len(lanes) * LANE
    height = 2 * MARGIN + HEAD + len(steps) * STEP + 10
    drawing = Drawing(width, height, title, "; ".join(step.text for step in steps))
    middle = {lane.name: MARGIN + LANE * (index + 0.5) for index, lane in enumerate(lanes)}
    for lane in lanes:
        x = middle[lane.name]
        drawing.line(x, MARGIN + HEAD, x, height - MARGIN)
        drawing.box(x - LANE / 2 + 6, MARGIN, LANE - 12, HEAD - 10, "mark")
        drawing.text(x, MARGIN + 20, lane.name, "strong", 13, "middle")
        drawing.text(x, MARGIN + 38, lane.where, "small", 11, "middle")
    for index, step in enumerate(steps):
        y = MARGIN + HEAD + STEP * (index + 1) - 8
        label = f"{index + 1}  {step.text}"
        start, end = middle[step.start], middle[step.end]
        if step.start == step.end:
            lines = _fit(label, LANE - 28, NOTE_LINES)
            top = y - 18 - 6 * len(lines)
            drawing.box(start - LANE / 2 + 8, top, LANE - 16, 10 + 13 * len(lines))
            for number, line in enumerate(lines):
                drawing.text(start - LANE / 2 + 16, top + 15 + 13 * number, line, "text", 11)
            continue
        drawing.arrow([(start, y), (end, y)], dashed=step.later)
        left, right = min(start, end), max(start, end)
        lines = _fit(label, right - left - 14, ARROW_LINES)
        for number, line in enumerate(reversed(lines)):
            drawing.text(left + 8, y - 6 - 13 * number, line, "text", 11)
    return drawing


def _fit(label: str, width: float, most: int) -> list[str]:
    lines = wrap(label, width, 11)
    if len(lines) > most:
        raise ValueError(f"this label does not fit into {most} lines: {label}")
    return lines
