"""The log of delivery attempts is stored in rows and read back."""

from contextlib import closing
from typing import Any

import msgspec
import pytest

from pgs.domain.environments import Environment
from pgs.storage import attempts as rows
from pgs.storage.attempts import Attempt
from pgs.storage.columns import NEWEST
from pgs.storage.database import Database
from pgs.storage.sqlite.database import SqliteDatabase
from pgs.storage.transactions import Outcome, Tx
from tests.beside import open_beside
from tests.storage.statements import sql_of

FIRST = Attempt(
    1,
    "att_1",
    "ndg_1",
    100,
    1,
    False,
    None,
    5000,
    "",
    "mat_1",
    False,
    "no response within 5 seconds",
)


def attempt(seq: int, at: int, **fields: object) -> Attempt:
    return msgspec.structs.replace(FIRST, seq=seq, attempt_id=f"att_{seq}", at=at, **fields)


async def log(
    database: Database,
    *attempts: Attempt,
    partner: str = "acme",
    environment: Environment = "test",
) -> Outcome:
    stmts = tuple(rows.insert_attempt(partner, environment, attempt) for attempt in attempts)
    return await database.writer.submit(Tx(partner, stmts))


async def test_a_try_is_read_as_it_was_logged(database: Database) -> None:
    landed = attempt(
        2,
        101,
        try_number=2,
        delivered=True,
        status_code=204,
        response_body="ok \ufffd 'x' ünï",
        match_id=None,
        error=None,
    )
    test = attempt(3, 102, test=True)
    assert await log(database, FIRST, landed, test) is Outcome.COMMITTED
    assert await rows.attempts_before(database.reader, "acme", "test", NEWEST, 0, 10) == [
        test,
        landed,
        FIRST,
    ]


async def test_the_log_is_read_in_pages_by_falling_sequence(database: Database) -> None:
    # Later attempts have earlier times: only the sequence counts.
    await log(database, *(attempt(seq, 200 - seq) for seq in range(1, 8)))
    first = await rows.attempts_before(database.reader, "acme", "test", NEWEST, 0, 3)
    then = await rows.attempts_before(database.reader, "acme", "test", first[-1].seq, 0, 3)
    assert [a.seq for a in (*first, *then)] == [7, 6, 5, 4, 3, 2]


async def test_attempts_as_old_as_the_bound_are_not_read(database: Database) -> None:
    await log(database, attempt(1, 99), attempt(2, 100), attempt(3, 101))
    assert [
        a.seq for a in await rows.attempts_before(database.reader, "acme", "test", NEWEST, 100, 10)
    ] == [3]


async def test_each_endpoint_has_a_log_of_its_own(database: Database) -> None:
    await log(database, attempt(1, 100))
    await log(database, attempt(1, 101), attempt(2, 102), environment="live")
    await log(database, attempt(1, 103), attempt(2, 104), attempt(3, 105), partner="zebra")
    logs: list[tuple[str, Environment]] = [
        ("acme", "test"),
        ("acme", "live"),
        ("zebra", "test"),
        ("zebra", "live"),
    ]
    assert [await rows.newest_seq(database.reader, *of) for of in logs] == [1, 2, 3, 0]
    assert [
        len(await rows.attempts_before(database.reader, *of, NEWEST, 0, 10)) for of in logs
    ] == [
        1,
        2,
        3,
        0,
    ]


async def test_a_sequence_number_can_be_used_once(database: Database) -> None:
    await log(database, FIRST)
    assert await log(database, attempt(1, 500)) is Outcome.CONFLICT
    assert await rows.attempts_before(database.reader, "acme", "test", NEWEST, 0, 10) == [FIRST]


async def test_the_last_test_event_is_found_below_newer_attempts(database: Database) -> None:
    assert await rows.newest_test_at(database.reader, "acme", "test", 0) is None
    await log(
        database,
        attempt(1, 90, test=True),
        attempt(2, 100, test=True),
        *(attempt(seq, 100 + seq) for seq in range(3, 9)),
    )
    assert await rows.newest_test_at(database.reader, "acme", "test", 99) == 100
    assert await rows.newest_test_at(database.reader, "acme", "test", 0) == 100
    assert await rows.newest_test_at(database.reader, "acme", "test", 100) is None
    assert await rows.newest_test_at(database.reader, "acme", "live", 0) is None
    assert await rows.newest_test_at(database.reader, "zebra", "test", 0) is None


async def test_the_oldest_tries_of_all_partners_are_found_in_pages(
    database: Database,
) -> None:
    await log(database, *(attempt(seq, 100 + seq) for seq in range(1, 6)))
    await log(database, attempt(1, 90), attempt(2, 300), environment="live")
    await log(database, attempt(7, 95), partner="zebra")
    assert await rows.oldest_attempts(database.reader, 89, 10) == []
    assert await rows.oldest_attempts(database.reader, 100, 10) == [
        ("acme", "live", 1),
        ("zebra", "test", 7),
    ]
    assert await rows.oldest_attempts(database.reader, 200, 4) == [
        ("acme", "live", 1),
        ("acme", "test", 2),
        ("zebra", "test", 7),
    ]
    assert await rows.oldest_attempts(database.reader, 200, 10) == [
        ("acme", "live", 1),
        ("acme", "test", 5),
        ("zebra", "test", 7),
    ]


async def test_deleting_old_tries_of_an_endpoint_leaves_all_others(
    database: Database,
) -> None:
    await log(database, attempt(1, 100), attempt(2, 120), attempt(3, 101), attempt(4, 100))
    await log(database, attempt(1, 100), environment="live")
    await log(database, attempt(1, 100), partner="zebra")
    await database.writer.submit(Tx("acme", (rows.delete_old_attempts("acme", "test", 3, 101),)))
    assert [
        a.seq for a in await rows.attempts_before(database.reader, "acme", "test", NEWEST, 0, 10)
    ] == [4, 2]
    assert (
        await rows.newest_seq(database.reader, "acme", "live")
        == await rows.newest_seq(database.reader, "zebra", "test")
        == 1
    )


@pytest.mark.parametrize(
    "name",
    [
        "newest_attempt",
        "newest_test",
        "attempts_before",
        "oldest_attempts",
        "last_old_attempt",
        "delete_old_attempts",
    ],
)
def test_no_query_scans_the_log(name: str, in_file: SqliteDatabase) -> None:
    sql = sql_of(f"attempts.{name}")
    numbers = dict.fromkeys(("before", "since", "until", "seq", "page_size"), 1)
    with closing(open_beside(in_file.path)) as connection:
        plan: Any = connection.execute(
            f"explain query plan {sql}", {"partner_id": "a", "environment": "test", **numbers}
        ).fetchall()
    steps = [row[3] for row in plan if "attempt" in row[3]]
    bounds = {"newest_test": "environment=? AND at>?", "oldest_attempts": "at<?"}
    assert len(steps) == 1
    assert bounds.get(name, "environment=?") in steps[0]
