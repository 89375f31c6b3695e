"""Looks at the other nodes follow the session of their own node."""

from collections.abc import Callable
from typing import cast

import pytest
import trio

from pgs.storage.postgres import lease
from pgs.storage.postgres.connection import Connection
from pgs.storage.postgres.lease import Look
from pgs.storage.postgres.looks import Looks


class _Server:
    """Stands for a connection to one server."""

    def __init__(self) -> None:
        self.closed = False

    def close(self) -> None:
        self.closed = True


def _looks(opened: list[_Server]) -> Looks:
    def watch() -> Connection:
        opened.append(_Server())
        return cast(Connection, opened[-1])

    return Looks("n1", watch)


@pytest.fixture
def look_with(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], None]], None]:
    def replace(wait: Callable[[], None]) -> None:
        def look(_: Connection) -> Look:
            wait()
            return Look((), {})

        monkeypatch.setattr(lease, "look", look)

    return replace


async def test_looks_of_another_session_use_another_connection(
    look_with: Callable[[Callable[[], None]], None],
) -> None:
    look_with(lambda: None)
    opened: list[_Server] = []
    looks, first, second = _looks(opened), object(), object()
    assert await looks.take(first) is not None
    assert await looks.take(first) is not None
    assert len(opened) == 1
    assert await looks.take(second) is not None
    assert [server.closed for server in opened] == [True, False]


async def test_a_look_at_a_server_that_does_not_answer_is_given_up(
    look_with: Callable[[Callable[[], None]], None],
) -> None:
    asked = trio.Event()
    answers: list[Look | None] = []
    token = trio.lowlevel.current_trio_token()

    def hang() -> None:
        token.run_sync_soon(asked.set)
        trio.from_thread.run(trio.sleep_forever)

    look_with(hang)
    looks = _looks([])

    async def take() -> None:
        answers.append(await looks.take(object()))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(take)
        await asked.wait()
        looks.give_up()
    assert answers == [None]
