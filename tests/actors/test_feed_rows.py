"""Pages of the feed that are made of rows in memory equal those that are read from the database."""

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import get_args
from unittest.mock import patch

import msgspec
import pytest
from trio.testing import MockClock

from pgs.actors.shared.feed_rows import Feed, FeedRows
from pgs.domain.matches import MatchStatus
from pgs.domain.names import PARTNER_REF_MAX
from pgs.domain.seats import EndReason, Result, Seat
from pgs.http.api.endpoint import Call
from pgs.http.api.responses import encode
from pgs.http.partner.results import (
    ResultsPage,
    read_results,
    result_row,
)
from pgs.storage import seats as rows
from pgs.storage.reader import Row
from pgs.storage.transactions import SqlValue
from tests.actors.feed_calls import call, key_for
from tests.actors.ready_core import ready_core
from tests.making import seat

FEED: Feed = ("acme", "test")
TEXT = "aZ9 _-.:/\\\"\u00e9\u20ac\u2028\U0001f3b2<>&'\x7f"


def generated(chance: Random, number: int) -> Seat:
    """Return a seat in the feed, with any values; each optional field may be missing."""

    def maybe(make: Callable[[], object]) -> object:
        return make() if chance.random() < 0.5 else None

    def amount() -> int:
        return chance.choice([0, 1, chance.randrange(10**6), 2**53 - 1])

    status = chance.choice(["matched", *set(get_args(MatchStatus)) - {"started"}])
    return seat(
        number,
        status=status,
        match_id=f"mat_{number}",
        stake_usd_cents=1 + amount(),
        partner_ref=maybe(
            lambda: "".join(chance.choices(TEXT, k=chance.randrange(PARTNER_REF_MAX + 1)))
        ),
        opponent_player_id=maybe(lambda: f"q{chance.randrange(99)}"),
        result=maybe(lambda: chance.choice(get_args(Result))),
        end_reason=maybe(lambda: chance.choice(get_args(EndReason))),
        score=maybe(lambda: chance.choice([-1, 1]) * amount()),
        started_at=maybe(amount),
        ended_at=maybe(amount),
        payout_usd_cents=maybe(amount),
        refund_usd_cents=maybe(amount),
        rake_usd_cents=maybe(amount),
        position=number,
        revision=1 + chance.randrange(9),
        updated_at=amount(),
    )


async def page_of(asked: Call) -> ResultsPage:
    page = await read_results(asked)
    assert isinstance(page, ResultsPage)
    return page


@pytest.mark.parametrize("kept", [10_000, 7], ids=["all rows kept", "few rows kept"])
async def test_pages_of_generated_rows_are_the_bytes_that_their_records_encode_to(
    kept: int, tmp_path: Path, autojump_clock: MockClock
) -> None:
    chance = Random(5)
    async with ready_core(tmp_path) as s:
        principal = await key_for(s)
        parts = msgspec.structs.replace(s.parts, feed_rows=FeedRows(kept))
        core = msgspec.structs.replace(s.core, parts=parts)
        await s.write_without_the_actors(
            rows.move_head(*FEED, rows.Head(), rows.Head(seat_seq=400, feed_position=400)),
            *(rows.insert_seat(generated(chance, number)) for number in range(1, 401)),
        )
        expected = [result_row(row) for row in await rows.feed_page(s.reader, *FEED, 0, 400)]
        positions = dict(zip((row.seat_id for row in expected), range(1, 401), strict=True))
        cursors = {0: ""}
        for _ in range(60):
            after, limit = chance.choice([*cursors]), chance.choice([1, 2, 7, 100, 500])
            query = {"limit": str(limit)} | ({"cursor": cursors[after]} if after else {})
            asked = call(s, principal, **query)
            asked = msgspec.structs.replace(
                asked, services=msgspec.structs.replace(asked.services, core=core)
            )
            page = await page_of(asked)
            shown = expected[after : after + limit]
            whole = ResultsPage("test", shown, page.next_cursor, after + limit < 400)
            assert encode(page) == encode(whole)
            cursors[positions[shown[-1].seat_id] if shown else after] = page.next_cursor


async def test_a_row_that_changes_is_shown_anew_although_it_was_kept(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        principal = await key_for(s)
        await s.seat("alice")
        bob = await s.seat("bob")
        await s.seat("carol")
        await s.seat("dave")
        await page_of(call(s, principal))
        first = await page_of(call(s, principal))
        assert len(s.parts.feed_rows) == 4
        await s.decide(bob.match_id, "bob")
        second = await page_of(call(s, principal))
        assert [row.player_id for row in first.results] == ["alice", "bob", "carol", "dave"]
        assert [row.player_id for row in second.results] == ["carol", "dave", "alice", "bob"]
        assert [row.outcome for row in second.results] == ["started"] * 2 + ["ended"] * 2


async def test_a_page_that_was_read_twice_reads_positions_only(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        asked, reader = call(s, await key_for(s)), s.parts.database.reader
        await s.seat("alice")
        await s.seat("bob")
        read: list[str] = []

        async def noted(name: str, **params: SqlValue) -> list[Row]:
            read.append(name)
            return await type(reader).all(reader, name, **params)

        with patch.object(reader, "all", noted):
            pages = [await page_of(asked) for _ in range(3)]
        assert read == ["results.page", "results.page", "results.positions"]
        assert len({encode(page) for page in pages}) == 1


async def test_rows_that_a_reader_passes_once_are_not_kept(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        principal = await key_for(s)
        cursor: dict[str, str] = {}
        for player in ("alice", "bob", "carol", "dave", "erin", "frank"):
            await s.seat(player)
        for _ in range(3):
            page = await page_of(call(s, principal, limit="2", **cursor))
            cursor = {"cursor": page.next_cursor}
            assert len(page.results) == 2
        assert len(s.parts.feed_rows) == 0
        await page_of(call(s, principal))
        assert len(s.parts.feed_rows) == 6


async def test_the_rows_of_two_feeds_are_kept_apart(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await s.open_partner("other")
        for partner in ("acme", "other"):
            for player in ("alice", "bob"):
                await s.seat(f"{partner}-{player}", partner=partner)
        asked = [call(s, principal) for principal in (await key_for(s), await key_for(s, "other"))]
        for kept in (0, 4, 4):
            seen = [[row.player_id for row in (await page_of(each)).results] for each in asked]
            assert seen == [["acme-alice", "acme-bob"], ["other-alice", "other-bob"]]
            assert len(s.parts.feed_rows) == kept


def test_rows_that_nobody_reads_again_are_forgotten_first() -> None:
    kept, row = FeedRows[str](10), "row"
    for position in range(1, 1000):
        kept.keep(FEED, {position: row})
        assert kept.find(FEED, [1]) == [row]
        assert len(kept) <= 2 * 10 + 1
    assert kept.find(FEED, [999, 1]) == [row, row]
    assert kept.find(FEED, [1, 500]) is None
    assert kept.reaches(FEED, 998)
    assert not kept.reaches(FEED, 999)
    assert not kept.reaches(("acme", "live"), 0)


def test_a_feed_without_kept_rows_does_not_disturb_the_others() -> None:
    kept: FeedRows[str] = FeedRows(2)
    kept.keep(("empty", "test"), {})
    for position in range(1, 6):
        kept.keep(FEED, {position: "row"})
    assert kept.find(FEED, [4, 5]) == ["row", "row"]
