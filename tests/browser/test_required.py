"""The browser tests on a machine without a browser."""

import shutil

import pytest

from tests.browser.chromium import REQUIRED, find_chromium


def test_a_missing_browser_skips_the_test_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.delenv(REQUIRED, raising=False)
    with pytest.raises(pytest.skip.Exception, match="NOT tested"):
        find_chromium()


def test_a_missing_browser_fails_the_test_where_one_is_required(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setenv(REQUIRED, "1")
    with pytest.raises(pytest.fail.Exception, match="NOT tested"):
        find_chromium()
