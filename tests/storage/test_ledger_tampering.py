"""The report on the ledger names every row that was changed in the database after real play."""

import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from trio.testing import MockClock

from pgs.storage.database import Database
from pgs.storage.ledger import LedgerReport, check_ledger
from tests.actors.ready_core import FLOOR, PRIZE, ready_core, until
from tests.actors.scripted_settlement import ScriptedSettlement
from tests.virtual import Faults

SEATS, MATCHES, CHARGES, STRAY, TRANSFERS = (
    "seats_settled_other_than_booked",
    "matches_that_do_not_add_up",
    "seats_charged_other_than_once",
    "stray_lines",
    "unbalanced_transfers",
)
WON, LOST, DRAWN, ALONE, PLAYING, WAITING, PENDING, DECLINED = (
    "won",
    "lost",
    "drawn",
    "alone",
    "playing",
    "waiting",
    "pending",
    "declined",
)


async def _play(folder: Path) -> None:
    """Leave seats in the database: one for each idempotency key above, and their opponents."""
    port = ScriptedSettlement()
    port.of_charge = {PENDING: ["pending"], DECLINED: ["declined"]}
    async with ready_core(folder, port) as s:
        await s.set_tier("silver", FLOOR, PRIZE)
        await s.set_tier("gold", FLOOR, PRIZE)
        await s.seat("alice", WON)
        await s.decide((await s.seat("bob", LOST)).match_id, "alice")
        await s.seat("alice", DRAWN)
        await s.decide((await s.seat("bob", "drawn-2")).match_id, None)
        await s.seat("alice", ALONE, environment="live")
        await until(301)
        await s.seat("alice", PLAYING, tier="silver")
        await s.seat("bob", "playing-2", tier="silver")
        await s.seat("carol", WAITING, tier="gold")
        await s.seat("dave", PENDING, tier="gold")
        await s.ask_seat("erin", DECLINED, tier="gold")
        await until(302)
        await s.check_money()


async def _tampered(folder: Path, sql: str) -> LedgerReport:
    await _play(folder)
    with closing(sqlite3.connect(folder / "pgs.db", isolation_level=None)) as connection:
        connection.executescript(sql)
        assert connection.total_changes > 0, "the statement changed nothing"
    database = Database(folder, inline=True)
    try:
        return await check_ledger(database.reader)
    finally:
        database.close()


def _lists(report: LedgerReport) -> dict[str, int]:
    return {
        name: len(found)
        for name, found in msgspec.structs.asdict(report).items()
        if name != "balances" and isinstance(found, list)
    }


async def test_the_ledger_is_sound_after_play_of_every_kind(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    await _play(tmp_path)


_SEAT = "update seat set {} where idempotency_key = '{}'"
_MATCH = (
    "update match set {} where match_id = (select match_id from seat where idempotency_key = '{}')"
)
_CHARGE = "transfer_id = (select 'charge:' || seat_id from seat where idempotency_key = '{}')"
_SETTLED = "transfer_id = (select 'settlement:' || match_id from seat where idempotency_key = '{}')"
_LINE = (
    "insert into ledger (partner_id, transfer_id, line, environment, kind, account, seat_id, "
    "amount_usd_cents, at) "
    "select partner_id, {transfer}, {line}, environment, '{kind}', '{account}', seat_id, "
    "{cents}, 1 "
    "from seat where idempotency_key = '{key}';"
)


def _lines(change: str, of: str, key: str) -> str:
    """Return a statement that changes the lines of one transfer of a seat."""
    return " ".join([change, of.format(key)])


@pytest.mark.parametrize(
    ("found", "sql"),
    [
        # a seat whose money differs from the ledger
        ({SEATS, MATCHES}, _SEAT.format("payout_usd_cents = payout_usd_cents + 1", WON)),
        ({SEATS, MATCHES}, _SEAT.format("payout_usd_cents = 5", LOST)),
        ({SEATS, MATCHES}, _SEAT.format("rake_usd_cents = rake_usd_cents - 1", LOST)),
        ({SEATS, MATCHES}, _SEAT.format("refund_usd_cents = refund_usd_cents - 1", DRAWN)),
        ({SEATS, MATCHES}, _SEAT.format("refund_usd_cents = 0, rake_usd_cents = 100", ALONE)),
        (
            {MATCHES},
            _SEAT.format("payout_usd_cents = refund_usd_cents, refund_usd_cents = 0", DRAWN),
        ),
        ({MATCHES}, _SEAT.format("payout_usd_cents = 0, refund_usd_cents = payout_usd_cents", WON)),
        ({SEATS, CHARGES, MATCHES}, _SEAT.format("stake_usd_cents = stake_usd_cents + 1", WON)),
        ({CHARGES}, _SEAT.format("stake_usd_cents = stake_usd_cents + 1", WAITING)),
        (
            {SEATS, MATCHES},
            _SEAT.format(
                "payout_usd_cents = null, refund_usd_cents = null, rake_usd_cents = null", LOST
            ),
        ),
        ({MATCHES}, _SEAT.format("refund_usd_cents = null", WON)),
        (
            {SEATS, MATCHES},
            _SEAT.format(
                "payout_usd_cents = 0, refund_usd_cents = 100, rake_usd_cents = 0", PLAYING
            ),
        ),
        (
            {SEATS},
            _SEAT.format("payout_usd_cents = 0, refund_usd_cents = 0, rake_usd_cents = 0", WAITING),
        ),
        ({SEATS}, _SEAT.format("payout_usd_cents = 100", PENDING)),
        # the winner, the match, and which match a seat belongs to
        (
            {SEATS, MATCHES},
            _SEAT.format("payout_usd_cents = 180, rake_usd_cents = 0", LOST)
            + ";"
            + _SEAT.format("payout_usd_cents = 0, rake_usd_cents = 20", WON),
        ),
        ({MATCHES}, _MATCH.format("winner_player_id = 'bob'", WON)),
        ({MATCHES}, _MATCH.format("winner_player_id = null", WON)),
        ({MATCHES}, _MATCH.format("winner_player_id = 'alice'", DRAWN)),
        ({MATCHES}, _MATCH.format("prize_usd_cents = 200", WON)),
        ({MATCHES}, _MATCH.format("money = 'due'", WON)),
        ({MATCHES}, _MATCH.format("money = 'recorded'", PLAYING)),
        ({MATCHES}, _MATCH.format("status = 'no_contest'", WON)),
        (
            {SEATS},
            "delete from match where match_id = "
            "(select match_id from seat where idempotency_key = 'won')",
        ),
        ({MATCHES, STRAY}, _SEAT.format("environment = 'test', seq = 900, position = 9000", ALONE)),
        ({SEATS, MATCHES, STRAY}, _SEAT.format("match_id = 'mat_x'", WON)),
        ({STRAY, MATCHES}, "delete from seat where idempotency_key = 'lost'"),
        # the status of the stake
        ({SEATS}, _SEAT.format("stake_status = 'declined'", WAITING)),
        ({CHARGES, SEATS}, _SEAT.format("confirmed_at = null", WAITING)),
        (
            {CHARGES, SEATS},
            _SEAT.format("confirmed_at = 1, stake_status = 'confirmed'", PENDING)
            + ";"
            + _SEAT.format("rake_usd_cents = 0", PENDING),
        ),
        ({CHARGES}, _SEAT.format("confirmed_at = 1, stake_status = 'confirmed'", DECLINED)),
        # the ledger itself
        (
            {TRANSFERS, SEATS},
            _lines(
                "update ledger set amount_usd_cents = amount_usd_cents + 1 "
                "where account = 'rake' and",
                _SETTLED,
                WON,
            ),
        ),
        (
            {TRANSFERS, CHARGES},
            _lines(
                "update ledger set amount_usd_cents = amount_usd_cents + 1 "
                "where account = 'escrow' and",
                _CHARGE,
                WON,
            ),
        ),
        ({CHARGES}, _lines("delete from ledger where", _CHARGE, WON)),
        ({SEATS}, _lines("delete from ledger where", _SETTLED, WON)),
        (
            {SEATS},
            _lines(
                "update ledger set amount_usd_cents = 2 * amount_usd_cents where", _SETTLED, DRAWN
            ),
        ),
        (
            {SEATS, TRANSFERS, STRAY},
            _lines(
                "update ledger set transfer_id = 'charge:else' where account = 'player' and",
                _SETTLED,
                ALONE,
            ),
        ),
        (
            {SEATS},
            _lines(
                "update ledger set account = 'player' where account = 'rake' and", _SETTLED, WON
            ),
        ),
        ({STRAY}, _lines("update ledger set environment = 'live' where", _CHARGE, WAITING)),
        (
            {STRAY},
            _lines(
                "update ledger set seat_id = 'sea_x' where account = 'player' and", _CHARGE, WAITING
            ),
        ),
        (
            {CHARGES},
            _LINE.format(
                transfer="'charge:' || seat_id",
                line=2,
                kind="charge",
                account="escrow",
                cents=FLOOR,
                key=WAITING,
            )
            + _LINE.format(
                transfer="'charge:' || seat_id",
                line=3,
                kind="charge",
                account="player",
                cents=-FLOOR,
                key=WAITING,
            ),
        ),
        (
            {STRAY},
            _LINE.format(
                transfer="'charge:again'",
                line=0,
                kind="charge",
                account="escrow",
                cents=FLOOR,
                key=WAITING,
            )
            + _LINE.format(
                transfer="'charge:again'",
                line=1,
                kind="charge",
                account="player",
                cents=-FLOOR,
                key=WAITING,
            ),
        ),
        (
            {STRAY},
            _LINE.format(
                transfer="'charge:' || seat_id",
                line=2,
                kind="charge",
                account="rake",
                cents=10,
                key=WAITING,
            )
            + _LINE.format(
                transfer="'charge:' || seat_id",
                line=3,
                kind="charge",
                account="player",
                cents=-10,
                key=WAITING,
            ),
        ),
    ],
)
async def test_a_row_that_was_changed_is_found(
    found: set[str], sql: str, tmp_path: Path, autojump_clock: MockClock
) -> None:
    report = await _tampered(tmp_path, sql)
    assert not report.sound
    assert {name for name, number in _lists(report).items() if number} == found


async def test_a_changed_payout_is_named_by_its_partner_its_seat_and_its_match(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    report = await _tampered(tmp_path, _SEAT.format("payout_usd_cents = payout_usd_cents + 1", WON))
    ((seat,), (match,)) = report.seats_settled_other_than_booked, report.matches_that_do_not_add_up
    assert seat.startswith("acme sea_")
    assert match.startswith("acme mat_")


async def test_a_report_ignores_commits_made_while_it_reads(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    await _play(tmp_path)
    faults = Faults()
    database = Database(tmp_path, inline=True, factory=faults.factory)
    try:
        # The payout changes just before the last query of the report.
        changed = _SEAT.format("payout_usd_cents = 5", WON)
        faults.commit_before("select l.partner_id, l.transfer_id", database.path, changed)
        assert (await check_ledger(database.reader)).sound
        assert not (await check_ledger(database.reader)).sound
    finally:
        database.close()
