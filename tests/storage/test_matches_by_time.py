"""The list of matches by status and time: complete, in order, and as cheap in a long history."""

from pathlib import Path

import msgspec
import psycopg
import pytest

from pgs.domain import ids
from pgs.domain.matches import Match, MatchStatus
from pgs.storage import support
from pgs.storage.database import Database
from pgs.storage.postgres.database import PostgresDatabase
from pgs.storage.queries import STATEMENTS
from pgs.storage.reader import Query, Row
from pgs.storage.seats import insert_match
from pgs.storage.support import LAST_SECOND, Span, TimedMatch, is_in, matches_by_time
from pgs.storage.transactions import Outcome, Params, Tx
from tests.making import match

BEGUN = 1_700_000_000
STATUSES: tuple[MatchStatus | None, ...] = (None, "started", "ended", "no_contest")


def made(number: int, at: int, status: MatchStatus, ended_at: int | None = None) -> Match:
    """Return a match made at a time in seconds after `BEGUN`, and ended at another, if at all."""
    entropy = (number * 7919 % 10_007).to_bytes(ids.ENTROPY_BYTES, "big")  # in no order
    return match(
        ids.new_id(ids.MATCH, (BEGUN + at) * 1000 + number % 1000, entropy),
        status=status,
        started_at=BEGUN + at,
        ended_at=None if ended_at is None else BEGUN + ended_at,
        money="none" if status == "started" else "recorded",
    )


def history() -> list[Match]:
    """Return matches of which several share each second, in every status."""
    found = []
    for number in range(60):
        at = number // 4
        if number % 4 == 0:
            found.append(made(number, at, "started"))
        elif number % 4 == 3:
            found.append(made(number, at, "no_contest", at + 3))
        else:
            found.append(made(number, at, "ended", at + number % 3))
    return found


async def insert(database: Database, matches: list[Match]) -> None:
    for first in range(0, len(matches), 500):
        stmts = tuple(insert_match(one) for one in matches[first : first + 500])
        assert await database.writer.submit(Tx("acme", stmts)) is Outcome.COMMITTED


async def pages(database: Database, span: Span, size: int) -> list[list[TimedMatch]]:
    found: list[list[TimedMatch]] = []
    before, is_last = None, False
    while not is_last:
        page = await matches_by_time(database.reader, "acme", "test", span, before, size)
        found.append(page.found)
        before, is_last = page.last, page.last is None
    return found


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize(("since", "until"), [(None, None), (4, 9), (3, 4), (100, 200)])
async def test_the_pages_have_each_match_of_the_span_once_and_the_newest_first(
    database: Database, status: MatchStatus | None, since: int | None, until: int | None
) -> None:
    matches = history()
    await insert(database, matches)
    others = [("other", "test"), ("acme", "live")]
    for number, (partner_id, environment) in enumerate(others):
        other = made(1_000 + number, 5, "ended", 5)
        changes = {"partner_id": partner_id, "environment": environment}
        stmt = insert_match(match(other.match_id, status="ended", ended_at=BEGUN + 5, **changes))
        assert await database.writer.submit(Tx(partner_id, (stmt,))) is Outcome.COMMITTED
    span = Span(
        status,
        0 if since is None else BEGUN + since,
        LAST_SECOND if until is None else BEGUN + until,
    )
    expected = sorted(
        (
            (one.ended_at or one.started_at or 0, one.match_id)
            for one in matches
            if status in (None, one.status)
            and span.since <= (one.ended_at or one.started_at or 0) < span.until
        ),
        reverse=True,
    )
    assert bool(expected) == (since != 100)
    assert {one.match_id for one in matches if is_in(span, one)} == {one[1] for one in expected}
    for size in (1, 7, 100):
        found = await pages(database, span, size)
        assert [one for page in found for one in page] == expected
        assert all(len(page) <= size for page in found)


async def test_a_page_reads_at_most_its_size_of_each_status(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One match in a thousand ended without a contest, long ago."""
    common = [made(number, number, "ended", number) for number in range(1, 2_000)]
    await insert(database, [made(0, 0, "no_contest", 0), *common])
    reader, read = database.reader, list[int]()
    together = reader.together

    async def counted(*queries: Query) -> list[list[Row]]:
        rows = await together(*queries)
        read.extend(len(some) for some in rows)
        return rows

    monkeypatch.setattr(reader, "together", counted)
    (rare,) = (await matches_by_time(reader, "acme", "test", Span("no_contest"), None, 20)).found
    assert rare[0] == BEGUN
    assert read == [1]
    read.clear()
    assert len((await matches_by_time(reader, "acme", "test", Span(), None, 20)).found) == 20
    assert read == [0, 21, 1]


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize(
    ("game_id", "tier_id"), [("chess", None), (None, "gold"), ("chess", "gold")]
)
async def test_the_pages_of_a_game_and_a_tier_have_each_of_their_matches_once(
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    status: MatchStatus | None,
    game_id: str | None,
    tier_id: str | None,
) -> None:
    games, tiers = ("chess", "reversi", "reversi"), ("gold", "gold", "bronze", "bronze", "bronze")
    matches = [
        msgspec.structs.replace(one, game_id=games[number % 3], tier_id=tiers[number % 5])
        for number, one in enumerate(history())
    ]
    await insert(database, matches)
    span = Span(status, game_id=game_id, tier_id=tier_id)
    expected = sorted(
        (
            (one.ended_at or one.started_at or 0, one.match_id)
            for one in matches
            if is_in(span, one)
        ),
        reverse=True,
    )
    assert 0 < len(expected) < len(matches)
    for scanned, size in ((5_000, 100), (5_000, 2), (7, 100), (7, 2), (1, 1), (60, 60), (20, 1)):
        monkeypatch.setattr(support, "SCANNED_FOR_PAGE", scanned)
        found = await pages(database, span, size)
        assert [one for page in found for one in page] == expected, (scanned, size)
        assert all(len(page) <= size for page in found)


async def test_a_page_of_a_rare_game_ends_after_a_bounded_number_of_matches_and_leads_on(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One match in two thousand is at another game, and it is the oldest."""
    first = msgspec.structs.replace(made(0, 0, "ended", 0), game_id="chess")
    await insert(
        database, [first, *(made(number, number, "ended", number) for number in range(1, 2_000))]
    )
    monkeypatch.setattr(support, "SCANNED_FOR_PAGE", 500)
    reader, read = database.reader, list[int]()
    together = reader.together

    async def counted(*queries: Query) -> list[list[Row]]:
        rows = await together(*queries)
        read.append(sum(len(some) for some in rows))
        return rows

    monkeypatch.setattr(reader, "together", counted)
    found = await pages(database, Span(game_id="chess"), 20)
    assert [len(page) for page in found] == [0, 0, 0, 1]
    assert read == [2, 2, 2, 2]  # the last one read and the next, then the last one and the match


@pytest.mark.postgres
@pytest.mark.slow
async def test_postgresql_reads_the_matches_by_time_in_the_order_of_an_index(
    url: str, tmp_path: Path, operator: psycopg.Connection
) -> None:
    common = [made(number, number, "ended", number) for number in range(3_000)]
    rare = [made(number, number, "no_contest", number) for number in range(3_000, 3_005)]
    running = [made(number, number, "started") for number in range(3_005, 3_300)]
    database = PostgresDatabase(url, tmp_path, inline=True)
    await insert(database, [*common, *rare, *running])
    database.close()
    operator.execute("analyze")
    scope: Params = {"partner_id": "acme", "environment": "test", "page_size": 21, "skipped": 0}
    scope |= {"game_id": "chess", "tier_id": None, "scanned": 50}
    decided = {"since": BEGUN, "before_ended_at": BEGUN + 9_999, "before_match_id": ""}
    by_id = {"first_id": ids.first_id(ids.MATCH, BEGUN), "before_id": "mat_g"}
    for name, index, params in (
        ("running", "match_running", by_id),
        ("ended", "match_ended", decided),
        ("no_contest", "match_no_contest", decided),
    ):
        for kind in ("by_time", "scanned"):
            statement = STATEMENTS[f"support.{name}_{kind}"]
            sql = statement.text.replace("?", "%s")
            values = statement.values({**scope, **params})
            plan = "\n".join(row[0] for row in operator.execute(f"explain {sql}", values))
            assert f"using {index} " in plan, plan
            assert "Sort" not in plan
            assert "Seq Scan" not in plan
