"""Pauses between the steps of a check that reads the whole database."""

import threading
from typing import Final

PAUSE_S: Final = 0.005
"""Seconds of one pause of the daily check, so that calls can use the whole machine."""


def pause() -> None:
    """Wait for `PAUSE_S`, on the thread of the check."""
    threading.Event().wait(PAUSE_S)


def no_pause() -> None:
    """Do not wait: for checks while no service runs, and for tests on a virtual clock."""
