"""The report names the first row of a ledger that is not as it was written, and its fault."""

from contextlib import closing

import msgspec
import pytest

from pgs.domain.ledger import FIRST_HASH, LedgerRow, hash_of
from pgs.storage import ledger as checked
from pgs.storage.columns import COLUMNS
from pgs.storage.ledger import FAULTS_LISTED, LedgerReport, check_ledger
from pgs.storage.sqlite.database import SqliteDatabase
from tests.beside import open_beside
from tests.storage.played import Played

AT = 1_800_000_000
LAST = 10  # rows of two matches
PAGES = (1, 2, 3, 5, 9, 10, 11, 1000)
ROWS = range(1, LAST + 1)
COLUMN_NAMES = ", ".join(COLUMNS["ledger"])
PLACES = ", ".join("?" for _ in ("row_id", *COLUMNS["ledger"]))
# The names come from the code.
INSERT = f"insert into ledger (row_id, {COLUMN_NAMES}) values ({PLACES})"  # noqa: S608


@pytest.fixture
async def database(in_file: SqliteDatabase) -> SqliteDatabase:
    """Two matches of `acme`, between those of two others whose ledgers stay sound."""
    for partner_id in ("aaa", "acme", "zzz"):
        await Played(in_file, partner_id).match("ann", AT)
        await Played(in_file, partner_id).match("bob", AT)
    return in_file


def _of_acme(database: SqliteDatabase, change: str, *values: object) -> None:
    """Run a statement on rows of `acme`, with a value for each `?`, without the service."""
    with closing(open_beside(database.path)) as connection:
        connection.execute(f"{change} partner_id = 'acme'", values)
        assert connection.changes() > 0


def _rows(database: SqliteDatabase) -> list[LedgerRow]:
    # As above.
    sql = f"select {COLUMN_NAMES} from ledger where partner_id = 'acme' order by seq"  # noqa: S608
    with closing(open_beside(database.path)) as connection:
        return [LedgerRow(*row) for row in connection.execute(sql)]


def _rewrite(database: SqliteDatabase, *rows: LedgerRow) -> None:
    """Put these rows in the place of the whole ledger of `acme`."""
    with closing(open_beside(database.path)) as connection:
        connection.execute("begin")
        connection.execute("delete from ledger where partner_id = 'acme'")
        connection.executemany(INSERT, [(None, *msgspec.structs.astuple(row)) for row in rows])
        connection.execute("commit")


def _numbered(rows: list[LedgerRow]) -> list[LedgerRow]:
    """Return rows with numbers from 1 in their order, and otherwise as they are."""
    return [msgspec.structs.replace(row, seq=seq) for seq, row in enumerate(rows, start=1)]


def _chained(rows: list[LedgerRow]) -> list[LedgerRow]:
    """Return rows with the hashes that they would have if they had been written like this."""
    before, chained = FIRST_HASH, []
    for row in rows:
        chained.append(msgspec.structs.replace(row, hash=hash_of(row, before)))
        before = chained[-1].hash
    return chained


def _added(seq: int, before: str) -> LedgerRow:
    """Return a row that fits into the chain but was never written by the service."""
    row = LedgerRow(
        "acme", "test", seq, AT, "charge", "player:eve", "escrow", "sea_x", None, 100, ""
    )
    return msgspec.structs.replace(row, hash=hash_of(row, before))


async def _report(
    database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch, page: int = 1000
) -> LedgerReport:
    monkeypatch.setattr(checked, "PAGE", page)
    report = await check_ledger(database.reader)
    assert not report.sound
    return report


async def _fault(database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch, *pages: int) -> str:
    """Return what the report says of the one broken chain, whatever the size of a page."""
    found = {
        tuple((await _report(database, monkeypatch, page)).broken_chains) for page in pages or PAGES
    }
    ((broken,),) = found
    named, fault = broken.split(": ")
    assert named == "acme test"
    return fault


@pytest.mark.parametrize("row", ROWS)
async def test_a_deleted_row_is_missing(
    row: int, database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    _of_acme(database, "delete from ledger where seq = ? and", row)
    assert await _fault(database, monkeypatch) == f"row {row} is missing"


@pytest.mark.parametrize(("first", "last"), [(1, 2), (4, 6), (9, 10), (1, 10)])
async def test_of_several_deleted_rows_the_first_is_named(
    first: int, last: int, database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    _of_acme(database, "delete from ledger where seq between ? and ? and", first, last)
    assert await _fault(database, monkeypatch) == f"row {first} is missing"


@pytest.mark.parametrize("row", ROWS)
async def test_a_row_with_another_amount_is_altered(
    row: int, database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    raised = "update ledger set amount_usd_cents = amount_usd_cents + 1"
    _of_acme(database, f"{raised} where seq = ? and", row)
    assert await _fault(database, monkeypatch) == f"row {row} is altered"


@pytest.mark.parametrize("row", ROWS)
async def test_a_row_that_is_there_twice_was_added(
    row: int, database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = _rows(database)
    other = msgspec.structs.replace(rows[row - 1], seat_id="sea_x")
    _rewrite(database, *rows, other)
    assert await _fault(database, monkeypatch) == f"row {row} was added by somebody else"


@pytest.mark.parametrize("page", PAGES)
async def test_rows_that_were_written_again_in_another_order_are_no_fault(
    page: int, database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = _rows(database)
    _rewrite(database, *rows[:3], *reversed(rows[3:]))
    monkeypatch.setattr(checked, "PAGE", page)
    assert (await check_ledger(database.reader)).sound


@pytest.mark.parametrize("row", [1, 5, 10])
@pytest.mark.parametrize(
    "change",
    [
        "at = at + 1",
        "kind = case kind when 'charge' then 'refund' else 'charge' end, seat_id = 'x'",
        "debit = debit || 'x'",
        "credit = credit || 'x'",
        "seat_id = 'sea_x'",
        "match_id = 'mat_x'",
        "hash = 'x' || substr(hash, 2)",
        "hash = ''",
        "amount_usd_cents = 1",
    ],
)
async def test_a_row_with_any_other_value_is_altered(
    row: int, change: str, database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    # `change` is one of the rows above.
    _of_acme(database, f"update ledger set {change} where seq = ? and", row)  # noqa: S608
    assert await _fault(database, monkeypatch) == f"row {row} is altered"


@pytest.mark.parametrize("row", ROWS)
async def test_an_altered_row_with_a_fitting_hash_is_found_at_the_next_row_or_the_head(
    row: int, database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = _rows(database)
    written[row - 1] = msgspec.structs.replace(written[row - 1], amount_usd_cents=1)
    written[row - 1] = _chained(written[:row])[-1]
    _rewrite(database, *written)
    assert await _fault(database, monkeypatch) == f"row {min(row + 1, LAST)} is altered"


@pytest.mark.parametrize("row", [1, 5, 10])
async def test_a_chain_that_was_written_anew_does_not_end_with_the_hash_of_the_head(
    row: int, database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = _rows(database)
    written[row - 1] = msgspec.structs.replace(written[row - 1], amount_usd_cents=1)
    _rewrite(database, *_chained(written))
    assert await _fault(database, monkeypatch) == f"row {LAST} is altered"


async def test_a_chain_that_was_written_anew_with_its_head_is_found_by_its_seats(
    database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = _rows(database)
    written[2] = msgspec.structs.replace(written[2], amount_usd_cents=1)
    chained = _chained(written)
    _rewrite(database, *chained)
    _of_acme(database, "update head set ledger_hash = ? where", chained[-1].hash)
    report = await _report(database, monkeypatch)
    assert report.broken_chains == []
    assert report.seats_booked_otherwise == [f"acme test {written[2].seat_id}"]


@pytest.mark.parametrize("row", range(1, LAST))
async def test_a_row_that_changed_places_with_the_next_one_is_out_of_order(
    row: int, database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = _rows(database)
    written[row - 1], written[row] = written[row], written[row - 1]
    _rewrite(database, *_numbered(written))
    assert await _fault(database, monkeypatch) == f"row {row} is out of order"


@pytest.mark.parametrize(("one", "other"), [(1, 10), (1, 3), (2, 9), (5, 10)])
async def test_a_row_that_changed_places_with_a_later_one_is_out_of_order(
    one: int, other: int, database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = _rows(database)
    written[one - 1], written[other - 1] = written[other - 1], written[one - 1]
    _rewrite(database, *_numbered(written))
    assert await _fault(database, monkeypatch, 9, 10, 1000) == f"row {one} is out of order"


async def test_a_row_whose_place_is_over_a_page_away_counts_as_altered(
    database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = _rows(database)
    written[0], written[5] = written[5], written[0]
    _rewrite(database, *_numbered(written))
    assert await _fault(database, monkeypatch, 4) == "row 1 is altered"
    assert await _fault(database, monkeypatch, 5) == "row 1 is out of order"


async def test_a_row_that_was_moved_to_the_end_is_reported_as_missing(
    database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    _of_acme(database, "update ledger set seq = 11 where seq = 4 and")
    assert await _fault(database, monkeypatch) == "row 4 is missing"


async def test_a_row_added_at_the_end_was_added_by_somebody_else(
    database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = _rows(database)
    _rewrite(database, *written, _added(11, written[-1].hash))
    assert await _fault(database, monkeypatch) == "row 11 was added by somebody else"


@pytest.mark.parametrize("row", ROWS)
async def test_a_row_added_between_others_is_out_of_order(
    row: int, database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = _rows(database)
    written.insert(row - 1, _added(row, "guessed"))
    _rewrite(database, *_numbered(written))
    assert await _fault(database, monkeypatch) == f"row {row} is out of order"


async def test_a_row_before_the_first_was_added_and_belongs_to_no_seat(
    database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    _rewrite(database, _added(0, FIRST_HASH), *_rows(database))
    assert await _fault(database, monkeypatch) == "row 0 was added by somebody else"
    assert (await _report(database, monkeypatch)).stray_rows == ["acme test 0"]


async def test_a_ledger_without_a_head_was_added_by_somebody_else(
    database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    _of_acme(database, "delete from head where")
    assert await _fault(database, monkeypatch) == "row 1 was added by somebody else"


@pytest.mark.parametrize("seq", [0, 1, 5, 9])
async def test_a_head_that_was_set_back_does_not_know_the_next_row(
    seq: int, database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    last_hash = _rows(database)[seq - 1].hash if seq else FIRST_HASH
    back = "update head set ledger_seq = ?, ledger_hash = ? where"
    _of_acme(database, back, seq, last_hash)
    assert await _fault(database, monkeypatch) == f"row {seq + 1} was added by somebody else"


async def test_a_head_and_rows_that_were_set_back_together_are_found_by_the_seats(
    database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = _rows(database)
    _rewrite(database, *written[:9])
    back = "update head set ledger_seq = ?, ledger_hash = ? where"
    _of_acme(database, back, 9, written[8].hash)
    report = await _report(database, monkeypatch)
    assert report.broken_chains == []
    assert report.seats_booked_otherwise == [f"acme test {written[9].seat_id}"]


async def test_a_head_that_was_set_forward_lacks_a_row(
    database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    _of_acme(database, "update head set ledger_seq = 12 where")
    assert await _fault(database, monkeypatch) == "row 11 is missing"


async def test_a_head_with_another_hash_means_that_the_last_row_is_altered(
    database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    _of_acme(database, "update head set ledger_hash = 'x' where")
    assert await _fault(database, monkeypatch) == "row 10 is altered"


async def test_each_broken_ledger_is_named_in_the_order_of_partners_and_environments(
    database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    await Played(database, "acme", "live").alone(AT)
    with closing(open_beside(database.path)) as connection:
        connection.execute("delete from ledger where seq = 2")
    assert (await _report(database, monkeypatch)).broken_chains == [
        f"{of}: row 2 is missing" for of in ("aaa test", "acme live", "acme test", "zzz test")
    ]
    assert FAULTS_LISTED > 4


def _insert(database: SqliteDatabase, row_id: int | None, row: LedgerRow) -> None:
    with closing(open_beside(database.path)) as connection:
        connection.execute(INSERT, (row_id, *msgspec.structs.astuple(row)))


@pytest.mark.parametrize("row_id", [-(2**63), -1, 0, 2**63 - 1])
async def test_an_added_row_is_found_whatever_its_row_id(
    row_id: int, database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    _insert(database, row_id, _added(LAST + 1, _rows(database)[-1].hash))
    assert await _fault(database, monkeypatch) == "row 11 was added by somebody else"


@pytest.mark.parametrize("seq", ["x", b"x", 2.5, 9e999, -9e999])
async def test_a_row_is_found_whatever_stands_in_the_place_of_its_number(
    seq: object, database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = _added(LAST + 1, _rows(database)[-1].hash)
    _insert(database, None, msgspec.structs.replace(row, seq=seq))
    assert await _fault(database, monkeypatch)


@pytest.mark.parametrize("seq", ["x", b"x", 9e999])
async def test_a_row_whose_number_became_something_else_is_missing(
    seq: object, database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    _of_acme(database, "update ledger set seq = ? where seq = 4 and", seq)
    assert await _fault(database, monkeypatch) == "row 4 is missing"
