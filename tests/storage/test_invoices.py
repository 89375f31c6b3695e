"""Invoices, their lines and what they bill are stored in rows and read back."""

import msgspec
import pytest

from pgs.domain.days import EARLIEST_DAY, day_of, first_day, last_day, month_of, start_of
from pgs.domain.environments import Environment
from pgs.domain.invoices import Invoice, InvoiceLine, finalise, pay, void
from pgs.domain.totals import Totals, TotalsKey
from pgs.storage import invoices as rows
from pgs.storage.database import Database
from pgs.storage.invoices import Unbilled
from pgs.storage.totals import raise_totals, totals_by_day
from pgs.storage.transactions import Outcome, Stmt
from tests.storage.played import commit

MONTH = month_of(day_of(1_800_000_000))
DAY = first_day(MONTH)
NOW = start_of(DAY)
FULL = Invoice("acme", "live", "inv_9", 9, 600, "void", 1, 2, 3, 4, 5, 6, 7, 8)


def _invoice(seq: int, /, **changes: object) -> Invoice:
    """Return the draft of the `seq`th month from `MONTH` on."""
    made = Invoice("acme", "test", f"inv_{seq}", seq, MONTH + seq - 1, "draft", NOW)
    return msgspec.structs.replace(made, **changes)


def _line(number: int, /, **changes: object) -> InvoiceLine:
    line = InvoiceLine(f"lin_{number}", number, DAY, "chess", f"tier-{number}", 2, 40)
    return msgspec.structs.replace(line, **changes)


def _played(
    day: int,
    tier: str = "tier-1",
    matches: int = 2,
    rake: int = 40,
    partner_id: str = "acme",
    environment: Environment = "test",
) -> Stmt:
    """Return the statement that adds matches of a day to the totals."""
    change = Totals(matches=matches, no_contests=1, match_rake_usd_cents=rake)
    return raise_totals(partner_id, environment, TotalsKey(day, "chess", tier), change)


async def _unbilled(database: Database, last: int = DAY + 99, size: int = 99) -> list[Unbilled]:
    return await rows.unbilled(database.reader, "acme", "test", (EARLIEST_DAY, last), size)


async def test_every_field_of_an_invoice_is_read_as_it_was_written(database: Database) -> None:
    assert None not in msgspec.structs.astuple(FULL)
    plain = _invoice(1)
    inserted = await commit(database, rows.insert_invoice(plain), rows.insert_invoice(FULL))
    assert inserted is Outcome.COMMITTED
    assert await rows.find_invoice(database.reader, "acme", "inv_1") == plain
    assert await rows.find_invoice(database.reader, "acme", "inv_9") == FULL
    assert await rows.find_invoice(database.reader, "bravo", "inv_9") is None
    assert await rows.find_month(database.reader, "acme", "live", 600) == FULL
    assert await rows.find_month(database.reader, "acme", "test", 600) is None
    assert await rows.find_month(database.reader, "acme", "test", MONTH) == plain


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        ({"invoice_id": "inv_1"}, Outcome.CONFLICT),
        ({"seq": 1}, Outcome.CONFLICT),
        ({"month": MONTH}, Outcome.CONFLICT),
        ({"number": 1}, Outcome.CONFLICT),
        ({"number": 2}, Outcome.COMMITTED),
        ({}, Outcome.COMMITTED),
        ({"seq": 1, "month": MONTH, "number": 1, "environment": "live"}, Outcome.COMMITTED),
        (
            {
                "invoice_id": "inv_1",
                "seq": 1,
                "month": MONTH,
                "number": 1,
                "partner_id": "bravo",
            },
            Outcome.COMMITTED,
        ),
    ],
)
async def test_id_place_month_and_number_of_an_invoice_are_unique(
    changes: dict[str, object], outcome: Outcome, database: Database
) -> None:
    await commit(database, rows.insert_invoice(_invoice(1, number=1)))
    assert await commit(database, rows.insert_invoice(_invoice(2, **changes))) is outcome


async def test_several_drafts_may_have_no_number(database: Database) -> None:
    drafts = [rows.insert_invoice(_invoice(seq)) for seq in (1, 2, 3)]
    assert await commit(database, *drafts) is Outcome.COMMITTED


async def test_a_number_cannot_be_given_twice_by_an_update(database: Database) -> None:
    was = _invoice(2)
    await commit(database, rows.insert_invoice(_invoice(1, number=1)), rows.insert_invoice(was))
    twice = rows.update_invoice(was, finalise(was, 1, 0, 0, NOW))
    assert await commit(database, twice) is Outcome.CONFLICT
    assert await rows.find_invoice(database.reader, "acme", "inv_2") == was


async def test_an_update_writes_every_step_of_an_invoice(database: Database) -> None:
    draft = _invoice(1)
    opened = finalise(draft, 1, 340, 2, NOW + 1)
    await commit(database, rows.insert_invoice(draft))
    paid = pay(opened, NOW + 2)
    for was, now in ((draft, opened), (opened, paid), (paid, void(paid, NOW + 3))):
        assert await commit(database, rows.update_invoice(was, now)) is Outcome.COMMITTED
        assert await rows.find_invoice(database.reader, "acme", "inv_1") == now


async def test_an_update_of_an_invoice_that_has_changed_meanwhile_conflicts(
    database: Database,
) -> None:
    opened = finalise(_invoice(1), 1, 340, 2, NOW)
    await commit(database, rows.insert_invoice(opened))
    assert await commit(database, rows.update_invoice(opened, pay(opened, 5))) is Outcome.COMMITTED
    for late in (pay(opened, 6), void(opened, 6)):
        assert await commit(database, rows.update_invoice(opened, late)) is Outcome.CONFLICT
    unknown = msgspec.structs.replace(opened, invoice_id="inv_x")
    assert await commit(database, rows.update_invoice(unknown, unknown)) is Outcome.CONFLICT
    assert await rows.find_invoice(database.reader, "acme", "inv_1") == pay(opened, 5)


async def test_the_last_numbers_are_those_of_the_partner_and_environment(
    database: Database,
) -> None:
    async def last(partner_id: str, environment: Environment) -> tuple[int, int]:
        return await rows.last_numbers(database.reader, partner_id, environment)

    assert await last("acme", "test") == (0, 0)
    await commit(database, rows.insert_invoice(_invoice(1)))
    assert await last("acme", "test") == (1, 0)
    await commit(
        database,
        rows.insert_invoice(_invoice(2, number=7)),
        rows.insert_invoice(_invoice(3, number=4)),
        rows.insert_invoice(_invoice(5, environment="live", number=9)),
        rows.insert_invoice(_invoice(6, partner_id="bravo", number=12)),
    )
    assert await last("acme", "test") == (3, 7)
    assert await last("acme", "live") == (5, 9)
    assert await last("bravo", "live") == (0, 0)


async def test_a_line_bills_rake_once(database: Database) -> None:
    one, other = _invoice(1), _invoice(2)
    await commit(database, _played(DAY), rows.insert_invoice(one), rows.insert_invoice(other))
    assert await _unbilled(database) == [Unbilled(DAY, "chess", "tier-1", 2, 40)]
    assert await commit(database, *rows.bill(one, _line(1))) is Outcome.COMMITTED
    assert await _unbilled(database) == []
    for again in (one, other):
        line = _line(1, line_id="lin_2", line=2)
        assert await commit(database, *rows.bill(again, line)) is Outcome.CONFLICT
    assert await rows.sum_of_lines(database.reader, one) == (1, 40)
    assert await rows.sum_of_lines(database.reader, other) == (0, 0)


@pytest.mark.parametrize(
    "changes",
    [
        {"day": DAY + 1},
        {"game_id": "reversi"},
        {"tier_id": "tier-2"},
    ],
)
async def test_a_line_about_play_that_never_happened_conflicts(
    changes: dict[str, object], database: Database
) -> None:
    await commit(database, _played(DAY), rows.insert_invoice(_invoice(1)))
    stmts = rows.bill(_invoice(1), _line(1, **changes))
    assert await commit(database, *stmts) is Outcome.CONFLICT
    assert await rows.lines_after(database.reader, "acme", "inv_1", 0, 9) == []


@pytest.mark.parametrize("changes", [{"line_id": "lin_1"}, {"line": 1}])
async def test_the_id_and_the_place_of_a_line_are_unique_in_its_invoice(
    changes: dict[str, object], database: Database
) -> None:
    await commit(database, _played(DAY), _played(DAY, "tier-2"))
    await commit(database, *rows.bill(_invoice(1), _line(1)))
    second = _line(2, **changes)
    assert await commit(database, *rows.bill(_invoice(1), second)) is Outcome.CONFLICT
    assert await commit(database, *rows.bill(_invoice(2), second)) is Outcome.COMMITTED


async def test_what_a_void_invoice_billed_can_be_billed_again(database: Database) -> None:
    one, other = _invoice(1), _invoice(2)
    await commit(database, *(_played(DAY, f"tier-{n}") for n in (1, 2, 3)))
    await commit(database, *rows.bill(one, _line(1)), *rows.bill(one, _line(2)))
    await commit(database, *rows.bill(other, _line(3)))
    assert await commit(database, rows.unbill(one)) is Outcome.COMMITTED
    assert [of.tier_id for of in await _unbilled(database)] == ["tier-1", "tier-2"]
    # The void invoice keeps its lines.
    assert await rows.sum_of_lines(database.reader, one) == (2, 80)
    again = _line(1, line_id="lin_9", line=9)
    assert await commit(database, *rows.bill(other, again)) is Outcome.COMMITTED
    assert [of.tier_id for of in await _unbilled(database)] == ["tier-2"]
    assert await commit(database, rows.unbill(_invoice(7))) is Outcome.COMMITTED  # billed nothing


async def test_unbilling_leaves_other_partners_and_environments(database: Database) -> None:
    live = _invoice(1, environment="live")
    bravo = _invoice(1, partner_id="bravo")
    await commit(
        database,
        _played(DAY, environment="live"),
        _played(DAY, partner_id="bravo"),
        *rows.bill(live, _line(1)),
        *rows.bill(bravo, _line(1)),
        rows.unbill(_invoice(1)),
    )
    for of in (live, bravo):
        left = await rows.unbilled(
            database.reader, of.partner_id, of.environment, (EARLIEST_DAY, DAY), 9
        )
        assert left == []


async def test_billed_rake_keeps_its_figures(database: Database) -> None:
    await commit(database, _played(DAY), *rows.bill(_invoice(1), _line(1)))
    (totals,) = (await totals_by_day(database.reader, "acme", "test", DAY, DAY)).values()
    assert totals == Totals(matches=2, no_contests=1, match_rake_usd_cents=40)


async def test_unbilled_rake_is_read_by_day_game_and_tier_up_to_a_day(database: Database) -> None:
    last = last_day(MONTH)
    await commit(
        database,
        _played(last, "b", 3, 0),  # draws have no rake, and a line
        _played(last, "a", 1, 10),
        _played(DAY, "z"),
        _played(last + 1, "a"),
        _played(DAY, "y", matches=0, rake=0),  # no contests alone
        _played(DAY, "z", partner_id="bravo"),
        _played(DAY, "z", environment="live"),
    )
    expected = [
        Unbilled(DAY, "chess", "z", 2, 40),
        Unbilled(last, "chess", "a", 1, 10),
        Unbilled(last, "chess", "b", 3, 0),
    ]
    assert await _unbilled(database, last) == expected
    assert await _unbilled(database, last, 2) == expected[:2]
    assert await _unbilled(database, last - 1) == expected[:1]
    assert await _unbilled(database, DAY - 1) == []
    assert len(await _unbilled(database, last + 1)) == 4
