"""Transactions for tests of the writer, and ways to submit them and wait."""

import time
from collections.abc import Callable

import pytest
import trio

from pgs.storage.database import Database
from pgs.storage.transactions import Outcome, Stmt, Tx
from tests.patience import PATIENCE_S
from tests.virtual import Faults

INLINE = pytest.mark.parametrize("inline", [True, False], ids=["inline", "thread"])


class AllIsWell:
    """A guard of files that are never lost."""

    def lost(self) -> None: ...

    def writing_back(self) -> None: ...

    def committed(self, commits: int) -> None: ...


def lock(game: str, expected_rows: int | None = 1) -> Stmt:
    return Stmt(
        "tiers.insert_lock",
        {"environment": "test", "tier_id": "bronze", "game_id": game},
        expected_rows,
    )


def unlock(game: str, expected_rows: int | None = 1) -> Stmt:
    return Stmt(
        "tiers.delete_lock",
        {"environment": "test", "tier_id": "bronze", "game_id": game},
        expected_rows,
    )


def tx_of(*stmts: Stmt) -> Tx:
    return Tx("platform", stmts)


async def locked_games(database: Database) -> set[str]:
    return {game for _, _, game in await database.reader.all("tiers.locks")}


async def submit_or_error(database: Database, tx: Tx) -> Outcome | Exception:
    try:
        return await database.writer.submit(tx)
    except Exception as error:
        return error


async def submit_all(database: Database, *txs: Tx) -> list[Outcome | Exception]:
    """Submit all transactions at once; return their outcomes in the order of the arguments."""
    outcomes: dict[int, Outcome | Exception] = {}

    async def one(number: int, tx: Tx) -> None:
        outcomes[number] = await submit_or_error(database, tx)

    async with trio.open_nursery() as nursery:
        for number, tx in enumerate(txs):
            nursery.start_soon(one, number, tx)
    return [outcomes[number] for number in range(len(txs))]


async def submit_as_one_group(
    database: Database, faults: Faults, *txs: Tx
) -> list[Outcome | Exception]:
    """Submit all transactions as one group: they queue while another write is held.

    Returns their outcomes in the order of the arguments.
    """
    outcomes: list[Outcome | Exception] = []
    with faults.hold("delete from tier_lock") as release:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(submit_or_error, database, tx_of(unlock("nothing", None)))
            await until(lambda: faults.count("delete from tier_lock") > 0)

            async def rest() -> None:
                outcomes.extend(await submit_all(database, *txs))

            nursery.start_soon(rest)
            await until(lambda: database.writer.waiting == 1 + len(txs))
            faults.statements.clear()
            release.set()
    return outcomes


async def until_real(condition: Callable[[], bool]) -> None:
    """Wait for a condition that a thread brings about, while trio's clock stands still."""
    give_up_at = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < give_up_at, "the condition never became true"
        await trio.to_thread.run_sync(time.sleep, 0.001)


async def until(condition: Callable[[], bool]) -> None:
    with trio.fail_after(PATIENCE_S):
        # A thread brings the condition about, and it sets no event of trio's, so this polls.
        while not condition():  # noqa: ASYNC110  happens in the writer's thread
            await trio.sleep(0.001)
