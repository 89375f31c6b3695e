"""Waits for a condition, in a test without an event loop."""

import time
from collections.abc import Callable

from tests.patience import PATIENCE_S


def until_now(condition: Callable[[], bool]) -> None:
    """Return once a condition holds; AssertionError if it never does."""
    give_up_at = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < give_up_at, "it never happened"
        time.sleep(0.01)
