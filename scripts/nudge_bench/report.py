"""What the benchmarks write: paragraphs, charts, and sections of a document."""

import math
import os
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

WIDTH = 100  # characters of a line of the document
BAR = 40  # characters of the longest bar


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that `share` of all values do not exceed."""
    return sorted(values)[math.ceil(share * len(values)) - 1]


def cores() -> str:
    """Return how many cores this process may use, in words."""
    count = os.cpu_count() or 1
    return f"{count} core{'' if count == 1 else 's'}"


def paragraph(text: str) -> list[str]:
    """Return a text as lines."""
    return textwrap.wrap(text, WIDTH, break_on_hyphens=False)


def bars(values: Mapping[str, float], unit: str) -> list[str]:
    """Return a chart as lines of a code block."""
    longest, widest = max(values.values()), max(len(name) for name in values)
    drawn = [
        f"{name:<{widest}}  {'█' * max(1, round(BAR * value / longest)):<{BAR}}  {value:.2f} {unit}"
        for name, value in values.items()
    ]
    return ["```text", *drawn, "```"]


def write_section(document: Path, title: str, section: str) -> None:
    """Replace the section of a Markdown document below a title, or add it at the end; everything else stays."""
    text = document.read_text(encoding="utf-8") if document.exists() else "# Benchmarks\n"
    before, found, after = text.partition(f"\n## {title}\n")
    rest = "\n## ".join(["", *after.split("\n## ")[1:]]) if found else ""
    document.write_text(
        f"{before.rstrip()}\n\n## {title}\n\n{section}\n{rest}".rstrip() + "\n", encoding="utf-8"
    )
