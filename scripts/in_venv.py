"""Lets a script that was started with any Python continue in the checkout's `.venv`.

Scripts that use the package import this module first.
"""

import importlib.util
import os
import sys
from pathlib import Path

_PYTHON = Path(__file__).resolve().parent.parent / ".venv" / "bin" / "python"

if importlib.util.find_spec("pgs") is None:
    if not _PYTHON.exists() or Path(sys.prefix) == _PYTHON.parent.parent:
        sys.exit(f"{Path(sys.argv[0]).name}: pgs is not installed here. Run scripts/setup first.")
    os.execv(_PYTHON, [str(_PYTHON), *sys.argv])  # noqa: S606  the checkout's own interpreter
