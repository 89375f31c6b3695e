"""Two nodes that answered for a shard at the same time are noticed, and a hand-over is not."""

import importlib
from pathlib import Path
from typing import Any

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"

pytestmark = pytest.mark.torture


@pytest.fixture
def claims(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    return importlib.import_module("cluster_torture.claims").Claims()


def test_a_shard_that_is_handed_over_and_back_is_no_fault(claims: Any) -> None:
    claims.note("n1", 10.0, 10.1, {7: 3.0})
    claims.note("n2", 11.0, 11.1, {7: 0.95})  # since 10.15 at the latest
    claims.note("n1", 12.0, 12.1, {8: 5.0})
    claims.note("n1", 14.0, 14.1, {7: 2.9})  # again since 11.2
    assert claims.found == []
    assert claims.answers == 4


def test_two_nodes_that_answer_for_a_shard_at_the_same_moment_are_found(claims: Any) -> None:
    claims.note("n1", 10.0, 10.1, {7: 3.0, 9: 3.0})
    claims.note("n2", 10.5, 10.6, {7: 1.0})
    [found] = claims.found
    assert found.startswith("n2 and n1 both answered for shard 7, for 0.39")


def test_a_node_that_went_on_answering_is_found_although_it_was_asked_later(claims: Any) -> None:
    claims.note("n1", 10.0, 10.1, {7: 3.0})
    claims.note("n2", 13.0, 13.1, {7: 1.0})
    assert claims.found == []
    claims.note("n1", 15.0, 15.1, {7: 8.0})  # it stood still, and still thinks that it answers
    [found] = claims.found
    assert found.startswith("n1 and n2 both answered for shard 7, for 0.89")


def test_a_slow_answer_proves_nothing_of_the_time_while_it_was_awaited(claims: Any) -> None:
    claims.note("n1", 10.0, 12.0, {7: 1.5})  # from 8.5 to 10.5 at the earliest, or from 10.5 to 12
    claims.note("n2", 11.8, 11.9, {7: 1.6})
    assert claims.found == []
