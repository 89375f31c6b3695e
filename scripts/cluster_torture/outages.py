"""How long partners went without an answer, by the kind of fault."""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from statistics import median

import msgspec


class Window(msgspec.Struct, frozen=True):
    """A fault: its kind, when it began and was over, and the partners whose node or data it hit."""

    kind: str
    begin: float
    end: float
    concerned: frozenset[str]


def longest_gap(answers: Sequence[float], begin: float, end: float) -> float:
    """Return the longest gap between answers, in seconds, of those gaps that overlap a window.

    `answers` are in order. If no answer comes before the window, the first gap begins at `begin`.
    If no answer comes after the window, the last gap ends at `end`.
    """
    first, last = bisect_left(answers, begin), bisect_right(answers, end)
    marks = [
        answers[first - 1] if first else begin,
        *answers[first:last],
        answers[last] if last < len(answers) else end,
    ]
    return max(after - before for before, after in pairwise(marks))


def table(windows: Iterable[Window], answers: dict[str, list[float]]) -> str:
    """Return a table in Markdown: how long partners had no answer, for each kind of fault."""
    kinds: dict[str, tuple[int, list[float], list[float]]] = {}
    for window in windows:
        times, own, others = kinds.setdefault(window.kind, (0, [], []))
        for partner_id, at in answers.items():
            gap = longest_gap(at, window.begin, window.end)
            (own if partner_id in window.concerned else others).append(gap)
        kinds[window.kind] = (times + 1, own, others)
    lines = [
        "| Fault | Times | Partners concerned: median, longest | Others: median, longest |",
        "| --- | --- | --- | --- |",
    ]
    for kind, (times, own, others) in sorted(kinds.items()):
        lines.append(f"| {kind} | {times} | {_told(own)} | {_told(others)} |")
    return "\n".join(lines)


def _told(gaps: Collection[float]) -> str:
    return f"{median(gaps):.2f} s, {max(gaps):.2f} s" if gaps else "–"
