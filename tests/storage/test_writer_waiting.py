"""The queue is bounded, a stalled disk is noticed, and a cancelled caller cancels no write."""

from pathlib import Path

import pytest
import trio
import trio.testing

from pgs.storage import writer as writer_module
from pgs.storage.database import Database
from pgs.storage.transactions import Outcome, WriterFull
from tests.storage.writing import (
    INLINE,
    lock,
    locked_games,
    submit_or_error,
    tx_of,
    unlock,
    until,
    until_real,
)
from tests.virtual import Faults, open_store


async def test_a_write_to_a_full_queue_is_refused_and_not_done(
    threaded: Database, faults: Faults, monkeypatch: pytest.MonkeyPatch
) -> None:
    threaded.start()
    monkeypatch.setattr(writer_module, "QUEUE_LIMIT", 3)
    with faults.hold("commit") as release:
        async with trio.open_nursery() as nursery:
            for number in range(3):
                nursery.start_soon(submit_or_error, threaded, tx_of(lock(f"game-{number}")))
            await until(lambda: threaded.writer.waiting == 3)
            with pytest.raises(WriterFull):
                await threaded.writer.submit(tx_of(lock("late")))
            release.set()
    assert await locked_games(threaded) == {"game-0", "game-1", "game-2"}
    assert await threaded.writer.submit(tx_of(lock("late"))) is Outcome.COMMITTED


async def test_a_stalled_disk_and_its_recovery_are_noticed(
    threaded: Database, faults: Faults, monkeypatch: pytest.MonkeyPatch
) -> None:
    threaded.start()
    monkeypatch.setattr(writer_module, "STALLED_AFTER_S", 0.05)
    outcomes: list[Outcome | Exception] = []

    async def submit(game: str) -> None:
        outcomes.append(await submit_or_error(threaded, tx_of(lock(game))))

    with faults.hold("commit") as release:
        async with trio.open_nursery() as nursery:
            assert not threaded.writer.stalled()
            nursery.start_soon(submit, "a")
            await until(lambda: faults.count("commit") == 1)
            nursery.start_soon(submit, "b")
            await until(threaded.writer.stalled)
            assert outcomes == []
            assert await locked_games(threaded) == set(), (
                "a write can be read before it is committed"
            )
            release.set()
    assert outcomes == [Outcome.COMMITTED] * 2
    assert not threaded.writer.stalled()


async def test_a_stall_is_measured_by_the_oldest_write_that_still_waits(
    threaded: Database, faults: Faults, mock_clock: trio.testing.MockClock
) -> None:
    threaded.start()
    seconds = writer_module.STALLED_AFTER_S
    with (
        faults.hold("insert into tier_lock") as first,
        faults.hold("delete from tier_lock") as second,
    ):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(submit_or_error, threaded, tx_of(lock("a")))
            await until_real(lambda: faults.count("insert into tier_lock") == 1)
            mock_clock.jump(seconds)
            assert not threaded.writer.stalled()
            nursery.start_soon(submit_or_error, threaded, tx_of(unlock("a")))
            await until_real(lambda: threaded.writer.waiting == 2)
            mock_clock.jump(1)
            assert threaded.writer.stalled()
            first.set()
            await until_real(lambda: threaded.writer.waiting == 1)
            assert not threaded.writer.stalled(), "the newer write has waited for one second only"
            mock_clock.jump(seconds)
            assert threaded.writer.stalled()
            second.set()
    assert not threaded.writer.stalled()


async def test_a_cancelled_caller_does_not_cancel_its_submitted_write(
    threaded: Database, faults: Faults
) -> None:
    threaded.start()
    with faults.hold("commit") as release, trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(submit_or_error, threaded, tx_of(lock("a")))
            await until(lambda: faults.count("commit") == 1)
            scope.cancel()
    assert scope.cancelled_caught
    assert release.is_set()
    await until(lambda: threaded.writer.waiting == 0)
    assert await locked_games(threaded) == {"a"}


@INLINE
async def test_a_caller_who_was_already_cancelled_submits_nothing(
    tmp_path: Path, inline: bool
) -> None:
    with open_store(tmp_path, inline=inline) as database:
        database.start()
        with trio.CancelScope() as scope:
            scope.cancel()
            await database.writer.submit(tx_of(lock("a")))
        assert scope.cancelled_caught
        assert database.writer.waiting == 0
        await database.writer.submit(tx_of(lock("b")))
        assert await locked_games(database) == {"b"}
