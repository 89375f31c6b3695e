"""What happens on a machine without a browser."""

import shutil

import pytest

from tests.browser.chromium import REQUIRED, find_chromium


def test_a_missing_browser_is_skipped_aloud(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.delenv(REQUIRED, raising=False)
    with pytest.raises(pytest.skip.Exception, match="NOT tested"):
        find_chromium()


def test_a_missing_browser_is_a_failure_where_one_is_required(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setenv(REQUIRED, "1")
    with pytest.raises(pytest.fail.Exception, match="NOT tested"):
        find_chromium()
