"""The report on the ledgers is sound at every step of play, and gives their totals.

`test_ledger_chain.py` and `test_ledger_tampering.py` test that it finds what was changed.
"""

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgs.domain import ledger
from pgs.domain.environments import Environment
from pgs.domain.ledger import LedgerRow, Transfer
from pgs.storage import ledger as checked
from pgs.storage import seats as rows
from pgs.storage.database import Database
from pgs.storage.ledger import (
    FAULTS_LISTED,
    LedgerReport,
    LedgerTotals,
    check_ledger,
    insert_row,
)
from pgs.storage.transactions import Outcome
from tests.making import seat
from tests.storage.played import Played, commit
from tests.virtual import Faults, open_store

AT = 1_800_000_000
SOUND = LedgerReport([LedgerTotals("test", 1, 100, 0, 0, 0, 100)], [], [], [], [], [], [], [])


def _row(number: int, transfer: Transfer, partner_id: str = "acme") -> LedgerRow:
    return ledger.row_after(
        number - 1, "before", transfer, partner_id=partner_id, environment="test", at=AT
    )


async def _sound(database: Database) -> list[LedgerTotals]:
    """Return the totals of ledgers that must be sound."""
    report = await check_ledger(database.reader)
    assert report.sound, report
    return report.totals


async def test_an_empty_ledger_is_sound_and_has_no_totals(database: Database) -> None:
    assert await _sound(database) == []


async def test_the_ledger_is_sound_at_every_step_of_a_match(database: Database) -> None:
    play = Played(database)
    running = await play.start(AT, stakes=(150, 110), prize=200)
    assert await _sound(database) == [LedgerTotals("test", 2, 260, 0, 0, 0, 260)]
    ended = await play.end(running, "bob", AT + 60)
    assert await _sound(database) == [LedgerTotals("test", 2, 260, 0, 0, 0, 260)]
    await play.pay(ended, AT + 90)
    assert await _sound(database) == [LedgerTotals("test", 5, 260, 200, 0, 60, 0)]


async def test_the_ledger_is_sound_after_every_kind_of_end(database: Database) -> None:
    play = Played(database)
    await play.match("ann", AT)
    await play.match("bob", AT, stakes=(170, 20), prize=100)  # bob's rake exceeds ann's stake
    await play.match("ann", AT, prize=200)  # no rake
    await play.match(None, AT, stakes=(150, 110))
    await play.match(None, AT, contest=False)
    await play.alone(AT, stake_usd_cents=123)
    await play.seat(AT, stake_usd_cents=77)
    stakes = 200 + 190 + 200 + 260 + 200 + 123 + 77
    payouts, refunds, rake = 180 + 100 + 200, 260 + 200 + 123, 20 + 90
    (totals,) = await _sound(database)
    assert msgspec.structs.astuple(totals)[2:] == (stakes, payouts, refunds, rake, 77)


async def test_seats_without_a_confirmed_stake_are_not_in_the_ledger(database: Database) -> None:
    declined = seat(1, status="declined", stake_status="declined")
    pending = seat(2, status="pending", stake_status="pending")
    head = rows.move_head("acme", "test", rows.Head(), rows.Head(seat_seq=2))
    await commit(database, rows.insert_seat(declined), rows.insert_seat(pending), head)
    assert await _sound(database) == []


async def test_each_environment_has_totals_over_all_partners(database: Database) -> None:
    for partner in ("acme", "bravo"):
        await Played(database, partner).match("ann", AT)
        await Played(database, partner, "live").alone(AT)
    assert await _sound(database) == [
        LedgerTotals("live", 4, 200, 0, 200, 0, 0),
        LedgerTotals("test", 10, 400, 360, 0, 40, 0),
    ]


async def test_the_rows_of_each_partner_and_environment_count_from_one_and_are_chained(
    database: Database,
) -> None:
    plays = [Played(database), Played(database, "bravo"), Played(database, "acme", "live")]
    for _ in range(3):  # taking turns
        for play in plays:
            await play.match("ann", AT)
    ledgers: list[tuple[str, Environment]] = [("acme", "test"), ("bravo", "test"), ("acme", "live")]
    for partner_id, environment in ledgers:
        found = await database.reader.all("ledger.page", first=1, page_size=99)
        rows_of_all = [LedgerRow(*row) for *row, _ in found]
        written = [
            row
            for row in rows_of_all
            if (row.partner_id, row.environment) == (partner_id, environment)
        ]
        assert [row.seq for row in written] == list(range(1, 16))
        before = ledger.FIRST_HASH
        for row in written:
            assert row.hash == ledger.hash_of(row, before)
            before = row.hash
        head = await rows.find_head(database.reader, partner_id, environment)
        assert (head.ledger_seq, head.ledger_hash) == (15, before)


async def test_every_field_of_a_row_is_read_as_it_was_written(database: Database) -> None:
    full = LedgerRow("acme", "live", 3, 5, "prize", "a", "b", "sea_1", "mat_1", 2**53, "hash")
    assert await commit(database, insert_row(full)) is Outcome.COMMITTED
    found = await database.reader.all("ledger.page", first=1, page_size=9)
    assert [LedgerRow(*row) for *row, _ in found] == [full]


async def test_a_transfer_of_a_seat_is_booked_once(database: Database) -> None:
    charge = ledger.charge(seat(1))
    assert await commit(database, insert_row(_row(1, charge))) is Outcome.COMMITTED
    assert await commit(database, insert_row(_row(2, charge))) is Outcome.CONFLICT
    assert await commit(database, insert_row(_row(2, charge, "other"))) is Outcome.COMMITTED


async def test_two_writers_cannot_both_add_the_next_row(database: Database) -> None:
    """The second one's rows follow a row that is not the last any more."""
    await Played(database).seat(AT)
    was = await rows.find_head(database.reader, "acme", "test")
    for number, outcome in ((2, Outcome.COMMITTED), (3, Outcome.CONFLICT)):
        row = _row(was.ledger_seq + number, ledger.charge(seat(number)))
        head = msgspec.structs.replace(was, ledger_seq=row.seq, ledger_hash=row.hash)
        stmts = insert_row(row), rows.move_head("acme", "test", was, head)
        assert await commit(database, *stmts) is outcome


@pytest.mark.parametrize("page", [1, 2, 3, 5, 7, 10, 11])
async def test_a_sound_ledger_is_sound_with_pages_of_any_size(
    page: int, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checked, "PAGE", page)
    for partner in ("acme", "bravo"):
        play = Played(database, partner)
        await play.match("ann", AT)
        await play.match("bob", AT)
    (totals,) = await _sound(database)
    assert totals.rows == 20


async def test_the_check_reads_at_most_a_page_of_a_ledgers_rows_at_once(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checked, "PAGE", 4)
    play = Played(database)
    for _ in range(3):
        await play.match("ann", AT)
    sizes = []
    read_all = database.reader.all

    async def count(name: str, **params: Any) -> list[Any]:
        found = await read_all(name, **params)
        if name == "ledger.page":
            sizes.append(len(found))
        return found

    monkeypatch.setattr(database.reader, "all", count)
    await _sound(database)
    assert sizes == [4, 4, 4, 3, 0]


async def test_the_check_of_sound_ledgers_reads_each_row_once(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    for partner in ("acme", "bravo"):
        await Played(database, partner).match("ann", AT)
    queries = []
    read_all = database.reader.all

    async def note(name: str, **params: Any) -> list[Any]:
        queries.append(name)
        return await read_all(name, **params)

    monkeypatch.setattr(database.reader, "all", note)
    await _sound(database)
    assert queries.count("ledger.page") == 2, "one page with rows, and an empty one"
    assert "ledger.page_of_one" not in queries


async def test_a_report_lists_a_bounded_number_of_faults_of_each_kind(database: Database) -> None:
    numbers = range(1, FAULTS_LISTED + 6)
    strays = [insert_row(_row(1, ledger.charge(seat(n)), f"partner-{n:03}")) for n in numbers]
    seats = [rows.insert_seat(seat(n, confirmed_at=AT)) for n in numbers]
    await commit(database, *strays, *seats)
    report = await check_ledger(database.reader)
    for found in (report.stray_rows, report.broken_chains, report.seats_booked_otherwise):
        assert len(found) == FAULTS_LISTED
    assert report.stray_rows[0] == "partner-001 test 1"


@pytest.mark.parametrize("name", LedgerReport.__struct_fields__[1:])
def test_any_one_fault_makes_a_ledger_unsound(name: str) -> None:
    assert SOUND.sound
    assert not msgspec.structs.replace(SOUND, **{name: ["acme x"]}).sound


ends = st.sampled_from(["ann", "bob", None, "no contest", "alone", "running", "due", "waiting"])


@given(st.lists(st.tuples(ends, st.sampled_from([(100, 100), (170, 20), (90, 110)])), max_size=8))
@settings(max_examples=25, deadline=None)
async def test_the_ledger_is_sound_after_any_play(
    tmp_path_factory: pytest.TempPathFactory, matches: list[tuple[str | None, tuple[int, int]]]
) -> None:
    with open_store(tmp_path_factory.mktemp("any"), Faults()) as database:
        play = Played(database)
        held = 0
        for number, (how, stakes) in enumerate(matches):
            at = AT + number * 40_000  # about two matches a day
            if how == "alone":
                await play.alone(at)
            elif how == "waiting":
                held += (await play.seat(at)).stake_usd_cents
            elif how in ("running", "due"):
                running = await play.start(at, stakes=stakes, prize=sum(stakes) - 20)
                held += sum(stakes)
                if how == "due":
                    await play.end(running, "ann", at + 86_400)
            else:
                winner, contest = (how, True) if how != "no contest" else (None, False)
                await play.match(winner, at, contest=contest, stakes=stakes, prize=100)
        assert sum(of.open_usd_cents for of in await _sound(database)) == held
