#!/usr/bin/env python3
"""Writes docs/limits.md from the code: every number that limits something, with unit and reason.

    scripts/write_limits.py

It reads the files under src/pgs without importing them. The exit code is 1 if a number has no
sentence or a file has no heading.
"""

import sys
from pathlib import Path

from limits.collect import Bound, collect
from limits.page import fault_of, heading_of, is_limit, page

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "pgs"
DOCUMENT = ROOT / "docs" / "limits.md"


def faults_of(bounds: list[Bound]) -> list[str]:
    """Return a line for each number with an incomplete sentence or a file without a heading."""
    faults = []
    for bound in bounds:
        place = f"src/pgs/{bound.file}:{bound.line}: {bound.name}"
        fault = fault_of(bound)
        if fault is not None:
            faults.append(f"{place} {fault}")
        if is_limit(bound) and heading_of(bound) is None:
            faults.append(f"{place} is in a file that no heading of scripts/limits/page.py takes")
    return faults


def main() -> int:
    """Write the page; return the exit code."""
    bounds = collect(SOURCE)
    faults = faults_of(bounds)
    if faults:
        print("\n".join(faults), file=sys.stderr)
        return 1
    DOCUMENT.write_text(page(bounds), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
