"""Shards that are handed over at the same time."""

from collections.abc import Callable
from typing import cast

import pytest
import trio
import trio.testing

from pgs.storage.postgres import lease
from pgs.storage.postgres.connection import Lost
from pgs.storage.postgres.hand_over_commits import HandOverCommits
from pgs.storage.postgres.session import WritingSession


class Line:
    """A line on which each piece of work waits until the test lets it go on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.handed: list[list[int]] = []
        self.error: Exception | None = None
        self.go_on = trio.Event()
        monkeypatch.setattr(lease, "hand_over", self._hand_over)

    def _hand_over(self, session: object, name: str, number: int, shards: list[int]) -> None:
        assert (name, number) == ("n1", 7)
        self.handed.append(shards)

    async def run(self, session: object, work: Callable[[object], None]) -> None:
        await self.go_on.wait()
        if self.error is not None:
            raise self.error
        work(session)


@pytest.fixture
def line(monkeypatch: pytest.MonkeyPatch) -> Line:
    return Line(monkeypatch)


def commits_on(line: Line) -> HandOverCommits:
    return HandOverCommits(cast("lease.WriterLine", line), cast("WritingSession", None), "n1", 7)


async def test_shards_that_are_ready_together_are_handed_over_with_one_commit(line: Line) -> None:
    given = commits_on(line)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(given.give, 1)
        await trio.testing.wait_all_tasks_blocked()
        for shard in (2, 3, 4):  # while the first is under way
            nursery.start_soon(given.give, shard)
        await trio.testing.wait_all_tasks_blocked()
        assert line.handed == []
        line.go_on.set()
    assert [sorted(shards) for shards in line.handed] == [[1], [2, 3, 4]]
    await given.give(5)
    assert line.handed[-1] == [5]


async def test_a_hand_over_that_fails_raises_once_and_nobody_waits_for_it(line: Line) -> None:
    given, errors = commits_on(line), []

    async def give(shard: int) -> None:
        try:
            await given.give(shard)
        except Lost as error:
            errors.append(error)

    line.error = Lost("gone")
    line.go_on.set()
    async with trio.open_nursery() as nursery:
        for shard in (1, 2, 3):
            nursery.start_soon(give, shard)
    assert 1 <= len(errors) <= 2
    assert line.handed == []
