"""Finds tools of the machine that some tests need, such as a browser or promtool."""

import os
import shutil
from typing import Final, NoReturn

import pytest

REQUIRED: Final = "REQUIRE_TOOLS"
"""A variable. If it is set, a missing tool fails the tests that need it."""

_SYSTEM_FOLDERS: Final = "/usr/sbin:/sbin"
"""Folders of servers, which many accounts do not have in their PATH."""


def find_tool(*names: str) -> str:
    """Return the path of the first of these programs that the machine has.

    Without one, skip the test, or fail it where tools are required.
    """
    search = f"{os.environ.get('PATH', os.defpath)}:{_SYSTEM_FOLDERS}"
    for name in names:
        path = shutil.which(name, path=search)
        if path is not None:
            return path
    do_without(f"this machine has none of: {', '.join(names)}")


def do_without(reason: str) -> NoReturn:
    """Skip the test, or fail it where tools are required."""
    message = f"{reason}. What needs this tool is NOT tested"
    if os.environ.get(REQUIRED):
        pytest.fail(message)
    pytest.skip(message)
