"""Writes submitted together share a commit in their order, and each can fail alone."""

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import trio

from pgs.storage import writer as writer_module
from pgs.storage.database import Database
from pgs.storage.transactions import Outcome, OutcomeUnknown, Stmt
from tests.beside import open_beside
from tests.patience import PATIENCE_S
from tests.storage.writing import (
    INLINE,
    lock,
    locked_games,
    submit_all,
    submit_as_one_group,
    submit_or_error,
    tx_of,
    unlock,
    until,
)
from tests.virtual import Faults, open_store


@pytest.fixture
def eager_threads() -> Iterator[None]:
    """Let Python go from one thread to another as often as it can."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


@INLINE
@pytest.mark.usefixtures("eager_threads")
async def test_writes_of_one_turn_of_the_event_loop_share_one_commit(
    tmp_path: Path, faults: Faults, inline: bool
) -> None:
    with open_store(tmp_path, faults, inline=inline) as database:
        database.start()
        txs = [tx_of(lock(f"game-{number}")) for number in range(100)]
        assert await submit_all(database, *txs) == [Outcome.COMMITTED] * 100
        assert faults.count("commit") == 1
        assert len(await locked_games(database)) == 100


async def test_writes_of_several_turns_share_one_commit_while_the_event_loop_is_busy(
    threaded: Database, faults: Faults, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_module, "GATHER_S", PATIENCE_S)
    threaded.start()
    async with trio.open_nursery() as nursery:
        for number in range(20):
            nursery.start_soon(threaded.writer.submit, tx_of(lock(f"game-{number}")))
            for _ in range(3):  # the event loop stays busy, and the writer's thread could commit
                await trio.lowlevel.checkpoint()
                time.sleep(0.001)  # noqa: ASYNC251 - the event loop must not rest
    assert faults.count("commit") == 1
    assert len(await locked_games(threaded)) == 20


async def test_a_write_waits_only_so_long_for_an_event_loop_that_is_never_idle(
    threaded: Database, faults: Faults
) -> None:
    threaded.start()
    async with trio.open_nursery() as nursery:

        async def never_idle() -> None:
            while True:
                await trio.lowlevel.checkpoint()

        nursery.start_soon(never_idle)
        with trio.fail_after(PATIENCE_S):
            assert await threaded.writer.submit(tx_of(lock("game"))) is Outcome.COMMITTED
        nursery.cancel_scope.cancel()
    assert faults.count("commit") == 1


async def test_writes_that_come_during_a_commit_share_the_next(
    threaded: Database, faults: Faults
) -> None:
    threaded.start()
    txs = [tx_of(lock(f"game-{number}")) for number in range(100)]
    assert await submit_as_one_group(threaded, faults, *txs) == [Outcome.COMMITTED] * 100
    assert faults.count("commit") == 2, "one was held, and one is that of the others"


async def test_writes_that_come_during_a_commit_share_the_next_with_writes_that_follow_its_answer(
    threaded: Database, faults: Faults
) -> None:
    threaded.start()

    async def one_after_the_other(*games: str) -> None:
        for game in games:
            assert await threaded.writer.submit(tx_of(lock(game))) is Outcome.COMMITTED

    async with trio.open_nursery() as nursery:
        with faults.hold("commit") as release:
            nursery.start_soon(one_after_the_other, "first", "after its answer")
            await until(lambda: faults.count("commit") == 1)
            nursery.start_soon(one_after_the_other, "during the commit")
            await until(lambda: threaded.writer.waiting == 2)
            release.set()
    assert faults.count("commit") == 2
    assert await locked_games(threaded) == {"first", "after its answer", "during the commit"}


@INLINE
async def test_a_write_whose_first_statement_conflicts_does_not_make_its_group_begin_again(
    tmp_path: Path, faults: Faults, inline: bool
) -> None:
    with open_store(tmp_path, faults, inline=inline) as database:
        database.start()
        await submit_all(database, tx_of(lock("taken")))
        faults.statements.clear()
        outcomes = await submit_all(
            database,
            tx_of(lock("a"), lock("b")),
            tx_of(lock("taken"), lock("c")),
            tx_of(unlock("nothing"), lock("d")),
            tx_of(lock("e")),
        )
        # The order in which tasks submit is random, but no write depends on another.
        done, conflict = Outcome.COMMITTED, Outcome.CONFLICT
        assert outcomes == [done, conflict, conflict, done]
        assert (faults.count("begin immediate"), faults.count("commit")) == (1, 1)
        assert await locked_games(database) == {"taken", "a", "b", "e"}


async def test_a_group_of_conflicts_alone_commits_nothing(
    threaded: Database, faults: Faults
) -> None:
    threaded.start()
    await submit_all(threaded, tx_of(lock("taken")))
    faults.statements.clear()
    taken = [tx_of(lock("taken"))] * 3
    assert await submit_all(threaded, *taken) == [Outcome.CONFLICT] * 3
    assert (faults.count("begin immediate"), faults.count("commit")) == (1, 0)
    assert await submit_all(threaded, tx_of(lock("free"))) == [Outcome.COMMITTED]


async def test_a_larger_group_is_committed_in_several_commits(
    threaded: Database, faults: Faults, monkeypatch: pytest.MonkeyPatch
) -> None:
    threaded.start()
    monkeypatch.setattr(writer_module, "GROUP_LIMIT", 2)
    outcomes = await submit_as_one_group(
        threaded, faults, *[tx_of(lock(f"game-{number}")) for number in range(9)]
    )
    assert outcomes == [Outcome.COMMITTED] * 9
    assert faults.count("commit") == 1 + 5


@INLINE
async def test_writes_are_committed_in_the_order_of_their_submission(
    tmp_path: Path, inline: bool
) -> None:
    with open_store(tmp_path, inline=inline) as database:
        database.start()
        came: list[str] = []

        async def lock_it(game: str) -> None:
            came.append(game)
            await database.writer.submit(tx_of(lock(game)))

        async with trio.open_nursery() as nursery:
            for number in range(50):
                nursery.start_soon(lock_it, f"game-{number}")
        connection = open_beside(database.path)
        assert [
            game for (game,) in connection.execute("select game_id from tier_lock order by rowid")
        ] == came
        connection.close()


async def test_a_close_commits_every_group_that_waits(
    threaded: Database, faults: Faults, monkeypatch: pytest.MonkeyPatch
) -> None:
    threaded.start()
    monkeypatch.setattr(writer_module, "GROUP_LIMIT", 2)
    games = [f"game-{number}" for number in range(7)]
    with faults.hold("delete from tier_lock") as release:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(submit_or_error, threaded, tx_of(unlock("nothing", None)))
            await until(lambda: faults.count("delete from tier_lock") > 0)
            nursery.start_soon(submit_all, threaded, *[tx_of(lock(game)) for game in games])
            await until(lambda: threaded.writer.waiting == 1 + len(games))
            nursery.start_soon(trio.to_thread.run_sync, threaded.writer.close)
            await trio.sleep(0.05)
            release.set()
    assert await locked_games(threaded) == set(games)
    assert faults.count("commit") == 1 + 4


async def test_a_write_that_fails_in_a_group_fails_alone(
    threaded: Database, faults: Faults
) -> None:
    threaded.start()
    faults.fail("update tier set")
    outcomes = await submit_as_one_group(
        threaded,
        faults,
        tx_of(lock("a")),
        tx_of(lock("a")),
        tx_of(lock("b"), unlock("c")),
        tx_of(lock("d"), Stmt("tiers.no_such_query", {})),
        tx_of(lock("e")),
    )
    assert {outcomes[0], outcomes[1]} == {Outcome.COMMITTED, Outcome.CONFLICT}
    assert outcomes[2] is Outcome.CONFLICT
    assert isinstance(outcomes[3], KeyError)
    assert outcomes[4] is Outcome.COMMITTED
    assert await locked_games(threaded) == {"a", "e"}
    assert faults.count("commit") == 1 + 2


@INLINE
async def test_a_commit_that_fails_leaves_the_outcome_of_the_whole_group_unknown(
    tmp_path: Path, faults: Faults, inline: bool
) -> None:
    with open_store(tmp_path, faults, inline=inline) as database:
        database.start()
        txs = [tx_of(lock(f"game-{number}")) for number in range(5)]
        faults.fail("commit", skip=0 if inline else 1)
        outcomes = await (
            submit_all(database, *txs) if inline else submit_as_one_group(database, faults, *txs)
        )
        assert [type(result) for result in outcomes] == [OutcomeUnknown] * 5
        assert len({id(result) for result in outcomes}) == 5, "callers would share one traceback"
        assert await locked_games(database) == set()
        faults.heal()
        assert await submit_all(database, *txs) == [Outcome.COMMITTED] * 5
