"""A session whose first commit is never confirmed is ended, so that the next one may be opened."""

from collections.abc import Callable
from typing import Any, cast

import pytest
import trio
from trio.testing import MockClock

from pgs.domain.shards import Node
from pgs.storage.postgres import lease
from pgs.storage.postgres.connection import StatementRefused
from pgs.storage.postgres.lease import WriterLine
from pgs.storage.postgres.session import WritingSession
from pgs.storage.postgres.shard_keeper import Keeper
from pgs.storage.transactions import StoreOutage

ME = Node("n1", "n1:8000")


class _Line:
    """Stands for the writer. Its first session waits for ever for its first commit."""

    def __init__(self) -> None:
        self.opened: list[object] = []
        self.abandoned: list[object] = []
        self.beats = trio.Event()

    async def open(self) -> object:
        self.opened.append(object())
        return self.opened[-1]

    async def run(self, session: object, work: Callable[[Any], Any]) -> Any:
        if session is self.opened[0]:
            await trio.sleep_forever()
        return work(session)

    def abandon(self, session: object) -> None:
        self.abandoned.append(session)


def _no_looks() -> Any:
    raise StoreOutage("there is no server")


async def test_a_node_whose_first_commit_is_never_confirmed_opens_another_session(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server may have ceased to be the primary after it had confirmed that it was."""
    line = _Line()
    monkeypatch.setattr(lease, "enter", lambda session, me: 7)
    monkeypatch.setattr(lease, "beat", lambda session, name, number: line.beats.set())

    async def release(shard: int) -> None:
        pass

    keeper = Keeper(ME, cast(WriterLine, line), _no_looks, release=release, drop=lambda: None)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(keeper.run)
        # Only this wait has a deadline: the virtual clock jumps to it while a look's thread runs.
        with trio.fail_after(30):
            await line.beats.wait()
        nursery.cancel_scope.cancel()
    assert line.abandoned == line.opened[:1]
    assert len(line.opened) == 2


async def test_a_refused_entry_is_an_outage(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pgs.storage.postgres.entering import enter

    line = _Line()
    line.opened.append(object())

    def refuse(session: WritingSession, me: Node) -> int:
        raise StatementRefused("no right to do this", "42501")

    monkeypatch.setattr(lease, "enter", refuse)
    with pytest.raises(StoreOutage, match="no right"):
        await enter(cast(WriterLine, line), ME)
    assert line.abandoned == []
