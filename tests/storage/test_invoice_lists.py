"""Lists of invoices, of their lines, of the matches of a line and of what is left to bill."""

import msgspec
import pytest

from pgs.domain.days import day_of, start_of
from pgs.domain.environments import Environment
from pgs.domain.invoices import Invoice, InvoiceLine
from pgs.domain.totals import Totals, TotalsKey
from pgs.storage import invoices as rows
from pgs.storage.columns import NEWEST
from pgs.storage.database import Database
from pgs.storage.invoices import BilledMatch
from pgs.storage.totals import raise_totals
from pgs.storage.transactions import Outcome, Stmt
from tests.storage.played import Played, commit

DAY = day_of(1_800_000_000)
AT = start_of(DAY)
PLACES: list[tuple[str, Environment]] = [
    ("acme", "live"),
    ("acme", "test"),
    ("bravo", "live"),
    ("bravo", "test"),
]


def _invoice(seq: int, /, **changes: object) -> Invoice:
    """Return the `seq`th invoice, of month 100 + `seq`. Every third one is open."""
    made = Invoice("acme", "test", f"inv_{seq}", seq, 100 + seq, "draft", AT)
    if seq % 3 == 0:
        made = msgspec.structs.replace(made, status="open", number=seq // 3)
    return msgspec.structs.replace(made, **changes)


async def _insert(database: Database, *stmts: Stmt) -> None:
    assert await commit(database, *stmts) is Outcome.COMMITTED


async def _everywhere(database: Database, count: int) -> None:
    """Add invoices of two partners in both environments."""
    for partner_id, environment in PLACES:
        invoices = [
            _invoice(
                seq,
                partner_id=partner_id,
                environment=environment,
                invoice_id=f"inv_{environment}_{seq}",
            )
            for seq in range(1, count + 1)
        ]
        await _insert(database, *map(rows.insert_invoice, invoices))


@pytest.mark.parametrize("size", [1, 2, 3, 10, 11])
async def test_pages_list_every_invoice_of_an_environment_once_the_newest_first(
    size: int, database: Database
) -> None:
    await _everywhere(database, 10)
    found: list[Invoice] = []
    while page := await rows.invoices_before(
        database.reader, "acme", "test", found[-1].seq if found else NEWEST, (0, 999), "", size
    ):
        assert len(page) <= size
        found += page
    assert [each.seq for each in found] == list(range(10, 0, -1))
    assert {(each.partner_id, each.environment) for each in found} == {("acme", "test")}


@pytest.mark.parametrize(
    ("months", "status", "seqs"),
    [
        ((103, 106), "", [6, 5, 4, 3]),
        ((103, 103), "", [3]),
        ((104, 103), "", []),
        ((101, 110), "open", [9, 6, 3]),
        ((104, 106), "open", [6]),
        ((104, 106), "draft", [5, 4]),
        ((101, 110), "paid", []),
    ],
)
async def test_a_list_can_be_limited_to_months_and_a_status(
    months: tuple[int, int], status: str, seqs: list[int], database: Database
) -> None:
    await _everywhere(database, 10)
    found = await rows.invoices_before(database.reader, "acme", "live", NEWEST, months, status, 99)
    assert [each.seq for each in found] == seqs


@pytest.mark.parametrize("size", [1, 3, 4, 5, 99])
async def test_pages_list_the_invoices_of_all_partners_in_order(
    size: int, database: Database
) -> None:
    await _everywhere(database, 4)
    found: list[tuple[str, Environment, int]] = []
    while page := await rows.list_invoices(
        database.reader, "", "", found[-1] if found else ("", "live", 0), size
    ):
        assert len(page) <= size
        found += [(each.partner_id, each.environment, each.seq) for each in page]
    assert found == [(*place, seq) for place in PLACES for seq in (1, 2, 3, 4)]


async def test_the_list_of_all_can_be_limited_to_a_partner_and_a_status(
    database: Database,
) -> None:
    await _everywhere(database, 7)

    async def listed(partner_id: str, status: str) -> list[tuple[str, str, int]]:
        found = await rows.list_invoices(database.reader, partner_id, status, ("", "live", 0), 99)
        return [(each.partner_id, each.environment, each.seq) for each in found]

    assert await listed("bravo", "open") == [
        (*place, seq) for place in PLACES[2:] for seq in (3, 6)
    ]
    assert await listed("", "open") == [(*place, seq) for place in PLACES for seq in (3, 6)]
    assert len(await listed("acme", "")) == 14
    assert await listed("nobody", "") == []


@pytest.mark.parametrize("size", [1, 2, 5, 6])
async def test_pages_list_the_lines_of_an_invoice_in_their_order(
    size: int, database: Database
) -> None:
    lines = [
        InvoiceLine(f"lin_{9 - n}", n, DAY, "chess", f"tier-{n}", n, 10 * n) for n in range(1, 6)
    ]
    invoice, other = _invoice(1), _invoice(2)
    for of in (1, 2, 3, 4, 5, 6):
        key = TotalsKey(DAY, "chess", f"tier-{of}")
        await _insert(database, raise_totals("acme", "test", key, Totals(matches=1)))
    for line in reversed(lines):
        await _insert(database, *rows.bill(invoice, line))
    sixth = InvoiceLine("lin_1", 1, DAY, "chess", "tier-6", 1, 1)
    await _insert(database, *rows.bill(other, sixth))
    found: list[InvoiceLine] = []
    while page := await rows.lines_after(
        database.reader, "acme", "inv_1", found[-1].line if found else 0, size
    ):
        assert len(page) <= size
        found += page
    assert found == lines
    assert await rows.sum_of_lines(database.reader, invoice) == (5, 150)
    assert await rows.find_line(database.reader, "acme", "inv_1", "lin_6") == lines[2]
    assert await rows.find_line(database.reader, "acme", "inv_2", "lin_6") is None
    assert await rows.find_line(database.reader, "acme", "inv_2", "lin_1") == sixth
    assert await rows.find_line(database.reader, "bravo", "inv_1", "lin_6") is None


def _line(tier: str = "bronze", game: str = "reversi", day: int = DAY) -> InvoiceLine:
    return InvoiceLine("lin_1", 1, day, game, tier, 1, 1)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 99])
async def test_pages_list_the_matches_that_a_line_bills_by_their_end_and_id(
    size: int, database: Database
) -> None:
    play = Played(database)
    expected = []
    for at in (AT + 9, AT, AT + 86_399, AT + 9, AT + 9, AT + 5, AT):  # several end in one second
        record = await play.match("ann", at)
        expected.append(BilledMatch(record.match.match_id, at, 20))
    expected.sort(key=lambda each: (each.ended_at, each.match_id))
    found: list[BilledMatch] = []
    while page := await rows.matches_of_line(
        database.reader,
        _invoice(1),
        _line(),
        (found[-1].ended_at, found[-1].match_id) if found else (0, ""),
        size,
    ):
        assert len(page) <= size
        found += page
    assert found == expected


async def test_a_line_lists_only_ended_matches_of_its_day_game_and_tier(
    database: Database,
) -> None:
    play = Played(database)
    won = await play.match("bob", AT, stakes=(150, 110), prize=200)
    drawn = await play.match(None, AT + 1)
    over_midnight = await play.start(AT - 1)
    over_midnight = await play.pay(await play.end(over_midnight, "ann", AT + 2), AT + 86_400)
    for others in (
        play.match(None, AT, contest=False),
        play.alone(AT),
        play.match("ann", AT - 1),
        play.match("ann", AT + 86_400),
        play.match("ann", AT, tier_id="gold"),
        play.match("ann", AT, game_id="chess"),
        play.start(AT),
        Played(database, "acme", "live").match("ann", AT),
        Played(database, "bravo").match("ann", AT),
    ):
        await others
    found = await rows.matches_of_line(database.reader, _invoice(1), _line(), (0, ""), 99)
    assert found == [
        BilledMatch(won.match.match_id, AT, 60),
        BilledMatch(drawn.match.match_id, AT + 1, 0),
        BilledMatch(over_midnight.match.match_id, AT + 2, 20),
    ]
    after = (AT + 86_400, "")
    assert await rows.matches_of_line(database.reader, _invoice(1), _line(), after, 99) == []
    gold = _line("gold")
    assert len(await rows.matches_of_line(database.reader, _invoice(1), gold, (0, ""), 9)) == 1


async def _bill(database: Database) -> dict[tuple[str, Environment], Invoice]:
    """Add rake of two partners in both environments, on two days, and bill the first day's."""
    invoices = {}
    for partner_id, environment in PLACES:
        invoice = _invoice(1, partner_id=partner_id, environment=environment)
        invoice = msgspec.structs.replace(invoice, invoice_id=f"inv_{environment}")
        invoices[partner_id, environment] = invoice
        for day in (DAY, DAY + 1):
            key = TotalsKey(day, "reversi", "bronze")
            await _insert(database, raise_totals(partner_id, environment, key, Totals(matches=1)))
        await _insert(database, rows.insert_invoice(invoice), *rows.bill(invoice, _line()))
    return invoices


async def test_partners_with_rake_left_to_bill_are_listed_once_in_pages(
    database: Database,
) -> None:
    invoices = await _bill(database)
    nothing = TotalsKey(DAY, "reversi", "gold")
    await _insert(database, raise_totals("idle", "test", nothing, Totals(no_contests=1, seats=2)))

    async def listed(last: int, after: tuple[str, str] = ("", ""), size: int = 99) -> list[object]:
        return list(await rows.partners_with_unbilled(database.reader, last, after, size))

    assert await listed(DAY) == []
    assert await listed(DAY + 1) == PLACES
    assert await listed(DAY + 1, size=3) == PLACES[:3]
    assert await listed(DAY + 1, PLACES[1], 1) == PLACES[2:3]
    assert await listed(DAY + 1, PLACES[3]) == []
    await _insert(database, rows.unbill(invoices[PLACES[1]]))
    assert await listed(DAY) == [PLACES[1]]


async def test_drafts_of_a_month_and_all_before_it_are_listed_in_pages(database: Database) -> None:
    await _everywhere(database, 5)
    drafts = [(*place, 100 + seq) for place in PLACES for seq in (1, 2, 4, 5)]
    for size in (1, 3, 99):
        found: list[tuple[str, Environment, int]] = []
        while page := await rows.drafts_after(
            database.reader, 999, found[-1] if found else ("", "live", 0), size
        ):
            assert len(page) <= size
            found += page
        assert found == drafts
    up_to = await rows.drafts_after(database.reader, 102, ("", "live", 0), 99)
    assert up_to == [each for each in drafts if each[2] <= 102]
