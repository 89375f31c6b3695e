#!/usr/bin/env python3
"""Writes the examples of /openapi.json: makes every call once, and keeps request and answer.

    scripts/write_examples.py

Run it when a call is added, or when what a call takes or answers changes.
"""

import in_venv  # the first import, because the packages below are installed in .venv

# isort: split

import json
import logging
import re
import sys
import tempfile
from pathlib import Path

import msgspec
import structlog
import trio

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "src" / "pgs" / "http" / "reference" / "examples.json"
SITE = r"\1s://games.example"
OPTIONAL_GAMES = ("chess",)
"""Games that only some services run. No example names them."""

_HERE = re.compile(r"\b(http|ws)://127\.0\.0\.1:[0-9]+")


def without_optional_games(value: object) -> object:
    """Return a JSON value whose lists leave out games that only some services run."""
    if isinstance(value, dict):
        return {name: without_optional_games(inner) for name, inner in value.items()}
    if not isinstance(value, list):
        return value
    return [
        without_optional_games(inner)
        for inner in value
        if (inner.get("gameId") if isinstance(inner, dict) else inner) not in OPTIONAL_GAMES
    ]


def main() -> int:
    """Write the file; return the exit code."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    sys.path.insert(0, str(ROOT))
    from tests.docs.example_calls import make_examples

    with tempfile.TemporaryDirectory() as folder:
        examples = trio.run(make_examples, Path(folder))
    plain = {name: msgspec.to_builtins(examples[name]) for name in sorted(examples)}
    shown = without_optional_games(plain)
    text = _HERE.sub(SITE, json.dumps(shown, indent=1, ensure_ascii=False))
    FILE.write_text(text + "\n", encoding="utf-8")
    print(f"wrote {len(plain)} examples to {FILE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
