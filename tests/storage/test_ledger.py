"""The report on the ledger names every fault, and is sound when there is none.

`test_ledger_tampering.py` tests that the report finds rows that were changed after real play.
"""

from typing import Any

import msgspec
import pytest

from pgs.domain import ledger
from pgs.domain.ledger import Line, Transfer
from pgs.domain.matches import MatchDecision, MatchWithSeats, end, start
from pgs.domain.payouts import record_money
from pgs.domain.seats import Seat, confirm
from pgs.storage import seats as rows
from pgs.storage.database import Database
from pgs.storage.ledger import SHOWN_LIMIT, LedgerReport, check_ledger
from pgs.storage.transactions import Stmt, Tx
from tests.making import seat


async def commit(database: Database, *stmts: Stmt) -> None:
    await database.writer.submit(Tx("acme", stmts))


def book(transfer: Transfer) -> list[Stmt]:
    return list(rows.book("acme", "test", transfer, 1))


def waiting(number: int) -> Seat:
    return confirm(seat(number, status="pending", stake_status="pending"), 50)


def settled() -> MatchWithSeats:
    running = start(waiting(1), waiting(2), "mat_1", "{}", 60)
    return record_money(end(running, MatchDecision("ended", "p1", "resigned"), 70), 80)


def insert(*seats: Seat) -> list[Stmt]:
    return [rows.insert_seat(msgspec.structs.replace(each, position=None)) for each in seats]


async def test_an_empty_ledger_is_sound(database: Database) -> None:
    report = await check_ledger(database.reader)
    assert report.sound
    assert report.balances == []


async def test_a_ledger_is_sound_at_every_step_of_a_match(database: Database) -> None:
    await commit(database, *insert(waiting(3)), *book(ledger.charge(waiting(3))))
    report = await check_ledger(database.reader)
    assert (report.sound, report.escrow_usd_cents, report.open_stakes_usd_cents) == (True, 100, 100)
    record = settled()
    match, pair = record.match, record.seats
    charges = [stmt for each in pair for stmt in book(ledger.charge(each))]
    await commit(
        database,
        rows.insert_match(match),
        *insert(*pair),
        *charges,
        *book(ledger.settlement(match.match_id, pair)),
    )
    report = await check_ledger(database.reader)
    assert report.sound
    assert report.balances == [
        ("test", "escrow", 100, 5),
        ("test", "player", -120, 4),
        ("test", "rake", 20, 1),
    ]
    await commit(
        database,
        *insert(seat(4, status="declined", stake_status="declined")),
        *insert(seat(5, status="pending", stake_status="pending")),
    )
    assert (await check_ledger(database.reader)).sound


async def test_a_transfer_out_of_balance_is_named(database: Database) -> None:
    await commit(
        database,
        *book(Transfer("odd", "charge", (Line("player", "sea_1", -5), Line("rake", "sea_1", 6)))),
    )
    report = await check_ledger(database.reader)
    assert (report.sound, report.sum_usd_cents, report.unbalanced_transfers) == (
        False,
        1,
        ["acme odd"],
    )


async def test_two_faults_that_cancel_out_are_both_named(database: Database) -> None:
    await commit(
        database,
        *book(Transfer("a", "charge", (Line("player", "sea_1", -5),))),
        *book(Transfer("b", "charge", (Line("player", "sea_1", 5),))),
    )
    report = await check_ledger(database.reader)
    assert (report.sound, report.sum_usd_cents, report.unbalanced_transfers) == (
        False,
        0,
        ["acme a", "acme b"],
    )


async def test_a_stake_without_a_charge_and_a_charge_without_a_stake_are_named(
    database: Database,
) -> None:
    await commit(database, *insert(waiting(1)))
    report = await check_ledger(database.reader)
    assert (report.sound, report.seats_charged_other_than_once, report.open_stakes_usd_cents) == (
        False,
        ["acme sea_001"],
        100,
    )
    await commit(database, *book(ledger.charge(waiting(1))))
    assert (await check_ledger(database.reader)).sound
    pending = seat(2, status="pending", stake_status="pending")
    await commit(database, *insert(pending), *book(ledger.charge(pending)))
    report = await check_ledger(database.reader)
    assert (report.sound, report.seats_charged_other_than_once) == (False, ["acme sea_002"])


async def test_a_charge_of_another_amount_is_named(database: Database) -> None:
    cheap = msgspec.structs.replace(waiting(1), stake_usd_cents=90)
    await commit(database, *insert(waiting(1)), *book(ledger.charge(cheap)))
    report = await check_ledger(database.reader)
    assert (report.sound, report.seats_charged_other_than_once) == (False, ["acme sea_001"])


async def test_a_ledger_whose_escrow_differs_from_the_open_stakes_is_not_sound(
    database: Database,
) -> None:
    pair = settled().seats
    await commit(
        database, *insert(*pair), *[stmt for each in pair for stmt in book(ledger.charge(each))]
    )
    # The seats record payouts, but no settlement is booked.
    report = await check_ledger(database.reader)
    assert (report.sound, report.escrow_usd_cents, report.open_stakes_usd_cents) == (False, 200, 0)


async def test_a_report_lists_a_bounded_number_of_faults(database: Database) -> None:
    await commit(
        database,
        *(
            stmt
            for n in range(SHOWN_LIMIT + 5)
            for stmt in book(Transfer(f"t{n}", "charge", (Line("rake", "s", 1),)))
        ),
    )
    assert len((await check_ledger(database.reader)).unbalanced_transfers) == SHOWN_LIMIT


SOUND = LedgerReport([("test", "escrow", 0, 2)], 0, [], [], [], [], [], 100, 100)


@pytest.mark.parametrize(
    "fault",
    [
        {"sum_usd_cents": -1},
        {"unbalanced_transfers": ["acme charge:sea_1"]},
        {"seats_charged_other_than_once": ["acme sea_1"]},
        {"seats_settled_other_than_booked": ["acme sea_1"]},
        {"matches_that_do_not_add_up": ["acme mat_1"]},
        {"stray_lines": ["acme charge:sea_1, line 0"]},
        {"escrow_usd_cents": 99},
        {"open_stakes_usd_cents": 101},
    ],
)
def test_any_one_fault_makes_a_ledger_unsound(fault: dict[str, Any]) -> None:
    assert SOUND.sound
    assert not msgspec.structs.replace(SOUND, **fault).sound
