"""Removes the settings from the environment before every test of the command line."""

import os
from collections.abc import Iterator

import pytest
import structlog


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in [name for name in os.environ if name.startswith("PGS_")]:
        monkeypatch.delenv(name)
    yield
    structlog.reset_defaults()
