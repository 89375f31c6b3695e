"""Seats, matches and heads are stored in rows and read back."""

from typing import Any

import msgspec
import pytest

from pgs.domain import matches
from pgs.domain import seats as rules
from pgs.domain.matches import Match, MatchDecision, MatchWithSeats
from pgs.domain.payouts import record_money
from pgs.domain.seats import Seat
from pgs.storage import seats as rows
from pgs.storage.columns import CHANGES_IN_MATCH
from pgs.storage.database import Database
from pgs.storage.transactions import Outcome
from tests.making import match, running_match, seat
from tests.storage.committing import commit


async def test_every_field_of_a_seat_is_read_as_it_was_written(database: Database) -> None:
    plain = seat(1)
    full = Seat(
        "acme",
        "live",
        "sea_9",
        9,
        "k:9",
        "pläyer",
        "chess",
        "gold",
        4,
        2**53,
        101,
        202,
        "ref",
        "no_contest",
        "refunded",
        1,
        "remote",
        2,
        3,
        4,
        "cancelled",
        "mat_9",
        1,
        "other",
        "won",
        -5,
        "no_opponent",
        6,
        7,
        8,
        9,
        10,
        11,
        12,
        13,
    )
    assert None not in msgspec.structs.astuple(full)
    assert (
        await commit(database, rows.insert_seat(plain), rows.insert_seat(full)) is Outcome.COMMITTED
    )
    assert await rows.find_seat(database.reader, "acme", "sea_001") == plain
    assert await rows.find_seat(database.reader, "acme", "sea_9") == full
    assert await rows.find_by_idempotency_key(database.reader, "acme", "live", "k:9") == full
    assert await rows.find_by_idempotency_key(database.reader, "acme", "test", "k:9") is None
    assert await rows.find_seat(database.reader, "other", "sea_9") is None


async def test_every_field_of_a_match_is_read_as_it_was_written(database: Database) -> None:
    full = Match(
        "acme",
        "live",
        "mat_9",
        "chess",
        "gold",
        4,
        900,
        "ended",
        "resigned",
        1,
        2,
        "alice",
        '{"rule":"x"}',
        "due",
        3,
    )
    assert None not in msgspec.structs.astuple(full)
    await commit(database, rows.insert_match(match("mat_1")), rows.insert_match(full))
    assert await rows.find_match(database.reader, "acme", "mat_1") == match("mat_1")
    assert await rows.find_match(database.reader, "acme", "mat_9") == full
    assert await rows.find_match(database.reader, "other", "mat_9") is None


async def test_updates_write_every_field_that_changes_during_a_match(
    database: Database,
) -> None:
    was = seat(1, status="pending", stake_status="pending")
    await commit(database, rows.insert_seat(was))
    confirmed = rules.confirm(was, 70)
    assert await commit(database, rows.update_seat(was, confirmed)) is Outcome.COMMITTED
    assert await rows.find_seat(database.reader, "acme", "sea_001") == confirmed
    pair = matches.start(confirmed, seat(2), "mat_1", "{}", 80)
    started = pair.match
    first = msgspec.structs.replace(pair.seats[0], position=1)
    await commit(database, rows.insert_match(started), rows.update_seat(confirmed, first))
    assert await rows.find_seat(database.reader, "acme", "sea_001") == first
    decision = MatchDecision("ended", first.player_id, "resigned")
    record = matches.end(MatchWithSeats(started, (first,)), decision, 90)
    ended = record.match
    over = msgspec.structs.replace(record.seats[0], position=2, score=3)
    await commit(database, rows.update_match(started, ended), rows.update_seat(first, over))
    assert await rows.find_seat(database.reader, "acme", "sea_001") == over
    assert await rows.find_match(database.reader, "acme", "mat_1") == ended
    with_money = record_money(MatchWithSeats(ended, (over,)), 99)
    recorded, (paid,) = with_money.match, with_money.seats
    await commit(database, rows.update_match(ended, recorded), rows.update_seat(over, paid))
    assert await rows.find_seat(database.reader, "acme", "sea_001") == paid
    assert await rows.find_match(database.reader, "acme", "mat_1") == recorded


@pytest.mark.parametrize(
    "decision",
    [
        MatchDecision("ended", "p1", "completed", (3, 1)),
        MatchDecision("ended", None, "completed"),
        MatchDecision("no_contest", None, "platform_void"),
    ],
)
def test_no_end_of_a_match_changes_a_field_that_an_update_of_its_seats_leaves_out(
    decision: MatchDecision,
) -> None:
    running = running_match()
    ended = matches.end(running, decision, 80)
    paid = record_money(ended, 90)
    written = {*CHANGES_IN_MATCH}
    for before, after in ((running, ended), (ended, paid)):
        for was, now in zip(before.seats, after.seats, strict=True):
            assert was.match_id is not None
            old, new = msgspec.structs.asdict(was), msgspec.structs.asdict(now)
            changed = {name for name in old if old[name] != new[name]}
            assert "revision" in changed
            assert changed <= written


async def test_an_update_of_a_row_that_has_changed_meanwhile_conflicts(database: Database) -> None:
    was = seat(1)
    await commit(database, rows.insert_seat(was), rows.insert_match(match("mat_1")))
    gone = msgspec.structs.replace(was, status="no_contest", revision=1)
    assert await commit(database, rows.update_seat(was, gone)) is Outcome.COMMITTED
    for stale in (
        was,
        msgspec.structs.replace(gone, revision=0),
        msgspec.structs.replace(was, revision=1),
    ):
        assert (
            await commit(database, rows.update_seat(stale, seat(1, status="matched")))
            is Outcome.CONFLICT
        )
    assert await rows.find_seat(database.reader, "acme", "sea_001") == gone
    over = match("mat_1", status="ended", money="due")
    assert await commit(database, rows.update_match(match("mat_1"), over)) is Outcome.COMMITTED
    assert await commit(database, rows.update_match(match("mat_1"), over)) is Outcome.CONFLICT
    assert (
        await commit(
            database, rows.update_match(over, match("mat_1", status="ended", money="recorded"))
        )
        is Outcome.COMMITTED
    )
    assert (
        await commit(
            database, rows.update_match(over, match("mat_1", status="ended", money="recorded"))
        )
        is Outcome.CONFLICT
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"seat_id": "sea_001"},
        {"idempotency_key": "k1"},
        {"position": 1},
        {"match_id": "mat_1", "player_id": "p1"},
    ],
)
async def test_a_seat_with_a_value_that_must_be_unique_conflicts(
    changes: dict[str, Any], database: Database
) -> None:
    await commit(database, rows.insert_seat(seat(1, position=1, match_id="mat_1")))
    assert await commit(database, rows.insert_seat(seat(2, **changes))) is Outcome.CONFLICT
    elsewhere = (
        seat(2, **changes, environment="live")
        if "seat_id" not in changes and "match_id" not in changes
        else seat(3)
    )
    assert await commit(database, rows.insert_seat(elsewhere)) is Outcome.COMMITTED
    assert (
        await commit(database, rows.insert_seat(seat(2, **changes, partner_id="other")))
        is Outcome.COMMITTED
    )


async def test_a_head_is_moved_only_from_its_stored_value(database: Database) -> None:
    zero, one, two = rows.Head(), rows.Head(1, 0), rows.Head(1, 2, 3, "hash", 4)
    assert await rows.find_head(database.reader, "acme", "test") == zero
    for was, head in ((zero, one), (one, two)):
        assert (
            await commit(database, rows.move_head("acme", "test", was, head)) is Outcome.COMMITTED
        )
    stale = ({"seat_seq": 0}, {"feed_position": 1}, {"ledger_seq": 2}, {"final_day": 3})
    for was in (zero, one, *(msgspec.structs.replace(two, **each) for each in stale)):
        assert (
            await commit(database, rows.move_head("acme", "test", was, rows.Head(9, 9)))
            is Outcome.CONFLICT
        )
    assert await rows.find_head(database.reader, "acme", "test") == two
    assert await rows.find_head(database.reader, "acme", "live") == zero
