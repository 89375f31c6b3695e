"""The report on the ledger names every row that was changed in the database after real play."""

import shutil
from contextlib import closing
from pathlib import Path

import pytest
from trio.testing import MockClock

from pgs.domain.days import day_of, format_day
from pgs.domain.totals import Totals
from pgs.storage.ledger import LedgerReport, check_ledger
from pgs.storage.sqlite.database import SqliteDatabase
from tests.actors.ready_core import FLOOR, GAME, PRIZE, ready_core, until
from tests.actors.scripted_settlement import ScriptedSettlement
from tests.beside import open_beside
from tests.virtual import START, Faults

CHAINS, SEATS, MATCHES, STRAY, DAYS = (
    "broken_chains",
    "seats_booked_otherwise",
    "matches_that_do_not_add_up",
    "stray_rows",
    "days_that_do_not_add_up",
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


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a service in which the first of these tests played."""
    return tmp_path_factory.mktemp("played") / "data"


def _is_played(folder: Path) -> bool:
    return (folder / "pgs.db").exists()


async def _tampered(played: Path, folder: Path, sql: str) -> LedgerReport:
    """Return the report on a copy of the played service whose database was changed."""
    if not _is_played(played):
        await _play(played)
    shutil.copytree(played, folder, dirs_exist_ok=True)
    with closing(open_beside(folder / "pgs.db")) as connection:
        connection.execute(sql)
        assert connection.total_changes() > 0, "the statement changed nothing"
    database = SqliteDatabase(folder, inline=True)
    try:
        return await check_ledger(database.reader)
    finally:
        database.close()


def _found(report: LedgerReport) -> set[str]:
    """Return the names of the lists that name a fault."""
    return {name for name in (CHAINS, SEATS, MATCHES, STRAY, DAYS) if getattr(report, name)}


async def test_the_ledger_is_sound_after_play_of_every_kind(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    await _play(tmp_path)


_SEAT = "update seat set {} where idempotency_key = '{}'"
_MATCH = (
    "update match set {} where match_id = (select match_id from seat where idempotency_key = '{}')"
)
_ROW = (
    "update ledger set {} where kind = '{}' "
    "and seat_id = (select seat_id from seat where idempotency_key = '{}')"
)
_NO_ROW = (
    "delete from ledger where kind = '{}' "
    "and seat_id = (select seat_id from seat where idempotency_key = '{}')"
)
_MORE_ROWS = (
    "insert into ledger (partner_id, environment, seq, at, kind, debit, credit, seat_id, match_id, "
    "amount_usd_cents, hash) "
    "select partner_id, environment, 900, 1, '{}', '{}', '{}', seat_id, match_id, 5, 'x' "
    "from seat where idempotency_key = '{}'"
)
_TOTALS = "update totals set {} where environment = 'test' and tier_id = 'bronze'"


@pytest.mark.parametrize(
    ("found", "sql"),
    [
        # a seat whose money differs from the ledger
        ({MATCHES}, _SEAT.format("payout_usd_cents = payout_usd_cents + 1", WON)),
        ({MATCHES}, _SEAT.format("payout_usd_cents = 5", LOST)),
        ({SEATS, MATCHES, DAYS}, _SEAT.format("rake_usd_cents = rake_usd_cents - 1", LOST)),
        ({SEATS, MATCHES, DAYS}, _SEAT.format("refund_usd_cents = refund_usd_cents - 1", DRAWN)),
        (
            {SEATS, MATCHES, DAYS},
            _SEAT.format("refund_usd_cents = 0, rake_usd_cents = 100", ALONE),
        ),
        (
            {SEATS, MATCHES, DAYS},
            _SEAT.format("payout_usd_cents = refund_usd_cents, refund_usd_cents = 0", DRAWN),
        ),
        (
            {SEATS, MATCHES, DAYS},
            _SEAT.format("payout_usd_cents = 0, refund_usd_cents = payout_usd_cents", WON),
        ),
        (
            {SEATS, MATCHES, DAYS},
            _SEAT.format("stake_usd_cents = stake_usd_cents + 1", WON),
        ),
        ({SEATS, DAYS}, _SEAT.format("stake_usd_cents = stake_usd_cents + 1", WAITING)),
        (
            {SEATS, MATCHES, DAYS},
            _SEAT.format(
                "payout_usd_cents = null, refund_usd_cents = null, rake_usd_cents = null", LOST
            ),
        ),
        ({MATCHES, DAYS}, _SEAT.format("refund_usd_cents = null", WON)),
        (
            {SEATS, MATCHES, DAYS},
            _SEAT.format(
                "payout_usd_cents = 0, refund_usd_cents = 100, rake_usd_cents = 0", PLAYING
            ),
        ),
        (
            {SEATS, DAYS},
            _SEAT.format("payout_usd_cents = 0, refund_usd_cents = 0, rake_usd_cents = 0", WAITING),
        ),
        ({SEATS}, _SEAT.format("payout_usd_cents = 100", PENDING)),
        ({SEATS}, _SEAT.format("payout_usd_cents = 0", WAITING)),
        ({SEATS}, _SEAT.format("refund_usd_cents = 0", PENDING)),
        ({SEATS}, _SEAT.format("rake_usd_cents = 0", DECLINED)),
        # the winner, the match, and which match a seat belongs to
        (
            {SEATS, MATCHES},
            _SEAT.format("payout_usd_cents = 180, rake_usd_cents = 0", LOST)
            + ";"
            + _SEAT.format("payout_usd_cents = 0, rake_usd_cents = 20", WON),
        ),
        ({MATCHES, STRAY}, _MATCH.format("winner_player_id = 'bob'", WON)),
        ({MATCHES}, _MATCH.format("winner_player_id = null", WON)),
        ({MATCHES}, _MATCH.format("winner_player_id = 'alice'", DRAWN)),
        ({MATCHES}, _MATCH.format("prize_usd_cents = 200", WON)),
        ({MATCHES}, _MATCH.format("prize_usd_cents = 200", DRAWN)),
        ({MATCHES}, _SEAT.format("prize_usd_cents = 150", PLAYING)),
        ({MATCHES}, _SEAT.format("result = 'lost'", WON)),
        ({MATCHES}, _SEAT.format("result = null", LOST)),
        ({MATCHES}, _SEAT.format("result = 'drawn'", ALONE)),
        ({MATCHES}, _SEAT.format("ended_at = ended_at + 86400", WON)),
        ({MATCHES, DAYS}, _MATCH.format("money = 'due'", WON)),
        ({MATCHES, DAYS}, _MATCH.format("money = 'recorded'", PLAYING)),
        ({MATCHES, DAYS}, _MATCH.format("status = 'no_contest'", WON)),
        (
            {SEATS, MATCHES, DAYS},
            _SEAT.format("rake_usd_cents = 0, refund_usd_cents = 20", LOST),
        ),
        ({MATCHES}, _MATCH.format("money = 'due'", PLAYING)),
        ({MATCHES, DAYS}, _MATCH.format("money = 'none'", WON)),
        ({MATCHES}, _MATCH.format("environment = 'live'", PLAYING)),
        (
            {MATCHES},
            _MATCH.format("status = 'ended'", PLAYING)
            + ";"
            + _SEAT.format("status = 'ended'", PLAYING)
            + ";"
            + _SEAT.format("status = 'ended'", "playing-2"),
        ),
        ({MATCHES}, _MATCH.format("status = 'ended', money = 'due'", PLAYING)),
        (
            {MATCHES},
            "insert into match (partner_id, environment, match_id, game_id, tier_id, "
            "tier_revision, prize_usd_cents, status, money) "
            "values ('acme', 'test', 'mat_x', 'chess', 'gold', 1, 180, 'started', 'none')",
        ),
        ({MATCHES, DAYS}, _MATCH.format("ended_at = ended_at + 86400", WON)),
        ({DAYS}, _MATCH.format("tier_id = 'gold'", WON)),
        ({DAYS}, _MATCH.format("game_id = 'chess'", DRAWN)),
        (
            {SEATS, DAYS},
            "delete from match where match_id = "
            "(select match_id from seat where idempotency_key = 'won')",
        ),
        (
            {MATCHES, STRAY, DAYS},
            _SEAT.format("environment = 'test', seq = 900, position = 9000", ALONE),
        ),
        ({SEATS, MATCHES, STRAY, DAYS}, _SEAT.format("match_id = 'mat_x'", WON)),
        ({STRAY, MATCHES, DAYS}, "delete from seat where idempotency_key = 'lost'"),
        # a seat's place, and the status of its stake
        ({DAYS}, _SEAT.format("tier_id = 'bronze'", WAITING)),
        ({DAYS}, _SEAT.format("confirmed_at = confirmed_at - 86400", WAITING)),
        ({STRAY}, _SEAT.format("player_id = 'eve'", WAITING)),
        ({SEATS}, _SEAT.format("stake_status = 'declined'", WAITING)),
        ({DAYS}, _SEAT.format("stake_status = 'confirmed'", DRAWN)),
        ({DAYS}, _SEAT.format("stake_status = 'refunded'", WON)),
        ({SEATS, DAYS}, _SEAT.format("confirmed_at = null", WAITING)),
        (
            {SEATS, DAYS},
            _SEAT.format("confirmed_at = 1, stake_status = 'confirmed'", PENDING)
            + ";"
            + _SEAT.format("rake_usd_cents = 0", PENDING),
        ),
        ({SEATS, DAYS}, _SEAT.format("confirmed_at = 1, stake_status = 'confirmed'", DECLINED)),
        # the ledger itself
        ({CHAINS, SEATS}, _ROW.format("amount_usd_cents = amount_usd_cents + 1", "rake", LOST)),
        ({CHAINS, SEATS}, _ROW.format("amount_usd_cents = amount_usd_cents + 1", "charge", WON)),
        ({CHAINS, SEATS}, _ROW.format("amount_usd_cents = 2 * amount_usd_cents", "refund", DRAWN)),
        ({CHAINS, SEATS}, _NO_ROW.format("charge", WON)),
        ({CHAINS, SEATS}, _NO_ROW.format("prize", WON)),
        ({CHAINS, SEATS}, _NO_ROW.format("rake", LOST)),
        ({CHAINS, SEATS}, _NO_ROW.format("refund", ALONE)),
        ({CHAINS, SEATS}, _ROW.format("kind = 'refund'", "prize", WON)),
        ({CHAINS, STRAY}, _ROW.format("credit = 'player:bob'", "prize", WON)),
        ({CHAINS, STRAY}, _ROW.format("credit = 'player:eve'", "rake", LOST)),
        ({CHAINS, STRAY}, _ROW.format("credit = 'rake'", "refund", DRAWN)),
        ({CHAINS, STRAY}, _ROW.format("debit = 'player:bob'", "charge", WON)),
        ({CHAINS, STRAY}, _ROW.format("debit = 'rake'", "prize", WON)),
        ({CHAINS, STRAY}, _ROW.format("match_id = 'mat_x'", "prize", WON)),
        ({CHAINS, STRAY}, _ROW.format("match_id = null", "prize", WON)),
        ({CHAINS, STRAY}, _ROW.format("match_id = 'mat_x'", "charge", WON)),
        ({CHAINS, STRAY, SEATS}, _ROW.format("seat_id = 'sea_x'", "charge", WAITING)),
        (
            {CHAINS, STRAY},
            _ROW.format("environment = 'live', seq = 900", "charge", WAITING),
        ),
        ({CHAINS}, _ROW.format("at = at + 1", "charge", WAITING)),
        ({CHAINS}, _ROW.format("hash = 'x'", "charge", WAITING)),
        ({CHAINS, SEATS}, _MORE_ROWS.format("rake", "escrow", "rake", DRAWN)),
        ({CHAINS, SEATS}, _MORE_ROWS.format("refund", "escrow", "player:alice", WON)),
        ({CHAINS, SEATS}, _MORE_ROWS.format("charge", "player:dave", "escrow", PENDING)),
        # the head
        ({CHAINS}, "update head set ledger_seq = ledger_seq - 1 where environment = 'test'"),
        ({CHAINS}, "update head set ledger_hash = '' where environment = 'live'"),
        ({CHAINS}, "delete from head where environment = 'live'"),
        # the totals
        ({DAYS}, _TOTALS.format("matches = matches + 1")),
        ({DAYS}, _TOTALS.format("day = day - 1")),
        ({DAYS}, "delete from totals where environment = 'live'"),
        ({DAYS}, "delete from totals where tier_id = 'gold'"),
        (
            {DAYS},
            "insert into totals select partner_id, environment, day, 'chess', 'gold', 0, 0, 0, 0, "
            "0, 0, 0, 0, 0, 0, 0, 0, 1, null from totals where environment = 'live'",
        ),
    ],
)
async def test_a_row_that_was_changed_is_found(
    found: set[str], sql: str, played: Path, tmp_path: Path, autojump_clock: MockClock
) -> None:
    report = await _tampered(played, tmp_path, sql)
    assert not report.sound
    assert _found(report) == found


@pytest.mark.parametrize("name", Totals.__struct_fields__)
async def test_each_figure_of_the_totals_is_checked(
    name: str, played: Path, tmp_path: Path, autojump_clock: MockClock
) -> None:
    report = await _tampered(played, tmp_path, _TOTALS.format(f"{name} = {name} + 1"))
    assert _found(report) == {DAYS}
    day = day_of(START)
    assert report.days_that_do_not_add_up == [f"acme test {format_day(day)} {GAME} bronze"]


async def test_a_changed_rake_is_named_by_its_seat_its_match_and_its_day(
    played: Path, tmp_path: Path, autojump_clock: MockClock
) -> None:
    report = await _tampered(
        played, tmp_path, _SEAT.format("rake_usd_cents = rake_usd_cents + 1", LOST)
    )
    ((seat,), (match,)) = report.seats_booked_otherwise, report.matches_that_do_not_add_up
    assert seat.startswith("acme test sea_")
    assert match.startswith("acme mat_")
    assert report.days_that_do_not_add_up == [
        f"acme test {format_day(day_of(START))} {GAME} bronze"
    ]


async def test_a_report_ignores_commits_made_while_it_reads(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    await _play(tmp_path)
    faults = Faults()
    database = SqliteDatabase(tmp_path, inline=True, factory=faults.factory)
    try:
        # The seat changes just before the last query of the report.
        changed = _SEAT.format("rake_usd_cents = 5", LOST)
        faults.commit_before("from ( select partner_id, environment, day", database.path, changed)
        assert (await check_ledger(database.reader)).sound
        assert not (await check_ledger(database.reader)).sound
    finally:
        database.close()
