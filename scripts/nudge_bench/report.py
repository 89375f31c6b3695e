"""The text of benchmarks: paragraphs, charts, and sections of a document."""

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
    """Return the machine's number of cores, in words."""
    count = os.cpu_count() or 1
    return f"{count} core{'' if count == 1 else 's'}"


def paragraph(text: str) -> list[str]:
    """Return a text as lines of at most `WIDTH` characters."""
    return textwrap.wrap(text, WIDTH, break_on_hyphens=False)


def bars(values: Mapping[str, float], unit: str, digits: int = 2) -> list[str]:
    """Return a bar chart as the lines of a code block; `digits`: those after the decimal point."""
    longest, widest = max(values.values()), max(len(name) for name in values)
    drawn = []
    for name, value in values.items():
        bar = "█" * max(1, round(BAR * value / longest))
        drawn.append(f"{name:<{widest}}  {bar:<{BAR}}  {value:,.{digits}f} {unit}")
    return ["```text", *drawn, "```"]


def write_section(document: Path, title: str, section: str) -> None:
    """Replace the section below a title of a Markdown document, or add it at the end."""
    text = document.read_text(encoding="utf-8") if document.exists() else "# Benchmarks\n"
    before, found, after = text.partition(f"\n## {title}\n")
    rest = "\n## ".join(["", *after.split("\n## ")[1:]]) if found else ""
    document.write_text(
        f"{before.rstrip()}\n\n## {title}\n\n{section}\n{rest}".rstrip() + "\n", encoding="utf-8"
    )
