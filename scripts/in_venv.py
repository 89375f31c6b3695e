"""Imported first by the scripts that use the package: has one that was started with any Python go on in the checkout's `.venv`."""

import importlib.util
import os
import sys
from pathlib import Path

_PYTHON = Path(__file__).resolve().parent.parent / ".venv" / "bin" / "python"

if importlib.util.find_spec("pgs") is None:
    if not _PYTHON.exists() or Path(sys.prefix) == _PYTHON.parent.parent:
        sys.exit(f"{Path(sys.argv[0]).name}: pgs is not installed here. Run scripts/setup first.")
    os.execv(_PYTHON, [str(_PYTHON), *sys.argv])  # noqa: S606  our own interpreter, without a shell between
