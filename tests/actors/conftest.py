"""Fixtures of the actors' tests."""

import pytest

from tests.actors.ready_core import tend_every


@pytest.fixture
def rare_chores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the chores that run every second only every 300 seconds.

    For a test that waits for an hour or more of virtual time and is about none of these chores:
    they would take most of its processor time.
    """
    tend_every(300.0, monkeypatch)
