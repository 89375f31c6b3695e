"""Looks at the other nodes follow the session of their own node."""

from collections.abc import Callable
from math import inf
from typing import cast

import pytest
import trio

from pgs.domain.leases import Beat, Sightings
from pgs.domain.shards import Node
from pgs.storage.postgres import lease
from pgs.storage.postgres.connection import Connection
from pgs.storage.postgres.lease import Look, Seen
from pgs.storage.postgres.node_looks import Looks
from tests.patience import PATIENCE_S


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


async def test_a_server_that_does_not_answer_a_call_that_ends_a_session_is_given_up(
    look_with: Callable[[Callable[[], None]], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = trio.Event()
    answers: list[int] = []
    token = trio.lowlevel.current_trio_token()
    silent = Seen(Node("n2", "n2:8000"), Beat("n2", 3, 9), "up", 77)
    seen = Look((silent,), {0: "n2"})

    def hang(_: Connection, __: Seen) -> bool:
        token.run_sync_soon(asked.set)
        return bool(trio.from_thread.run(trio.sleep, inf))

    look_with(lambda: None)
    monkeypatch.setattr(lease, "end_session", hang)
    opened: list[_Server] = []
    looks = _looks(opened)
    session = object()
    await looks.take(session)
    sightings = Sightings().look([silent.beat], 10.0)
    for now in (10.8, 11.6, 12.4):
        sightings = sightings.look([silent.beat], now)

    async def end() -> None:
        answers.append(await looks.end_silent(seen, sightings, lambda: True))

    with trio.fail_after(PATIENCE_S):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(end)
            await asked.wait()
            looks.give_up()
    assert answers == [0]
    await looks.take(session)
    assert len(opened) == 2
