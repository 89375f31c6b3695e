"""Tests that need a tool of the machine, on a machine without it."""

import pytest

from tests.tools import REQUIRED, find_tool


def test_a_missing_tool_skips_the_test_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(REQUIRED, raising=False)
    with pytest.raises(pytest.skip.Exception, match=r"no-such-tool.*NOT tested"):
        find_tool("no-such-tool")


def test_a_missing_tool_fails_the_test_where_tools_are_required(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(REQUIRED, "1")
    with pytest.raises(pytest.fail.Exception, match=r"no-such-tool.*NOT tested"):
        find_tool("no-such-tool")


def test_the_first_tool_that_the_machine_has_is_found() -> None:
    assert find_tool("no-such-tool", "sh").endswith("/sh")
