"""Queries read together show one moment, even if the writer commits between them."""

import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import trio

from pgs.domain.accounts import Account
from pgs.storage.accounts import insert_origin, insert_partner, read_account, read_accounts
from pgs.storage.bulk import read_in_bulk
from pgs.storage.reader import Query, Reader
from pgs.storage.tiers import read_catalogue
from pgs.storage.transactions import ReadFailed, Tx
from tests.beside import open_beside
from tests.making import account
from tests.patience import PATIENCE_S
from tests.virtual import Faults, open_store


async def _one_account(reader: Reader) -> dict[str, Account | None]:
    return {"acme": await read_account(reader, "acme")}


@pytest.mark.parametrize(
    "read",
    [read_accounts, _one_account],
    ids=["all accounts", "one account"],
)
async def test_an_account_is_read_as_of_one_moment(
    read: Callable[[Reader], Any], tmp_path: Path
) -> None:
    faults = Faults()
    with open_store(tmp_path, faults) as database:
        await database.writer.submit(
            Tx(
                "acme",
                (insert_partner(account()), insert_origin("acme", "test", "http://localhost:1", 1)),
            )
        )
        before = await read(database.reader)
        faults.commit_before(
            "from origin", database.path, "delete from origin where partner_id = 'acme'"
        )
        assert await read(database.reader) == before
        faults.heal()
        assert (await read(database.reader))["acme"].origins["test"] == ()


async def test_the_tier_catalogue_is_read_as_of_one_moment(tmp_path: Path) -> None:
    faults = Faults()
    with open_store(tmp_path, faults) as database:
        before = await read_catalogue(database.reader)
        faults.commit_before(
            "from terms",
            database.path,
            "insert into terms (version, text, published_at) values (99, 'new', 1)",
        )
        assert await read_catalogue(database.reader) == before
        faults.heal()
        assert (await read_catalogue(database.reader)).offered_terms_version == 99


async def test_reads_together_end_their_transaction_even_when_one_fails(tmp_path: Path) -> None:
    faults = Faults()

    async def read_both(reader: Reader) -> Any:
        return await reader.together(Query("accounts.partners"), Query("accounts.keys"))

    with open_store(tmp_path, faults) as database:
        faults.fail("from api_key")
        await database.writer.submit(Tx("acme", (insert_partner(account()),)))
        with pytest.raises(ReadFailed):
            await read_both(database.reader)
        faults.heal()
        with closing(open_beside(database.path)) as connection:
            connection.execute("update partner set name = 'Later'")
        partners, keys = await read_both(database.reader)
        assert (partners[0][1], keys) == ("Later", [])


async def test_a_long_check_does_not_delay_bulk_reads(tmp_path: Path) -> None:
    """Uses threads, and therefore real time, but waits only for events."""
    begun, end = threading.Event(), threading.Event()

    async def check(reader: Reader) -> None:
        begun.set()
        end.wait(PATIENCE_S)

    with open_store(tmp_path, inline=False) as database, trio.fail_after(PATIENCE_S):

        async def check_all() -> None:
            await read_in_bulk(database, check, database.check_limit)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(check_all)
            await trio.to_thread.run_sync(begun.wait)
            assert await read_in_bulk(database, read_accounts) == {}
            end.set()
