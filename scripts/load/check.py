"""Checks that the feed has every match as it was decided, with the right money."""

from collections.abc import Mapping
from typing import Any

from load.story import Books, Ending

from pgs.config import Config
from pgs.storage.engines import open_database
from pgs.storage.ledger import check_ledger


def faults_of(books: Books, prize: int) -> list[str]:
    """Return a sentence for each fault of a partner's feed. `prize` in US cents."""
    faults = list(books.faults)
    by_match: dict[str, list[Mapping[str, Any]]] = {}
    for row in books.rows.values():
        by_match.setdefault(row["matchId"], []).append(row)
    for match_id, ending in books.decided.items():
        found = by_match.get(match_id, [])
        if len(found) != 2:
            faults.append(f"{match_id} has {len(found)} rows")
            continue
        faults += [f"{match_id}: {fault}" for fault in _faults(found, ending, books.stake, prize)]
    for match_id in by_match.keys() - books.matches:
        faults.append(f"{match_id} is in the feed, and no seat was told of it")
    for match_id in books.matches - books.decided.keys():
        if [row["outcome"] for row in by_match.get(match_id, [])] != ["started", "started"]:
            faults.append(f"{match_id} was not decided, and its rows are {by_match.get(match_id)}")
    seats = {row["seatId"] for row in books.rows.values()}
    if not seats <= set(books.seats.values()):
        faults.append("the feed has seats that nobody took")
    return faults


def _faults(rows: list[Mapping[str, Any]], ending: Ending, stake: int, prize: int) -> list[str]:
    faults = []
    for row in rows:
        won = ending.winner == row["playerId"]
        expected: tuple[str, str | None, int, int]
        if ending.outcome == "no_contest":
            expected = ("no_contest", None, 0, stake)
        elif ending.winner is None:
            expected = ("ended", "drawn", 0, stake)
        else:
            expected = ("ended", "won" if won else "lost", prize if won else 0, 0)
        told = (
            row["outcome"],
            row.get("result"),
            row.get("payoutUsdCents"),
            row.get("refundUsdCents"),
        )
        if told != expected:
            faults.append(f"{row['playerId']} was told {told} and not {expected}")
    total = sum(row.get(f"{kind}UsdCents", 0) for row in rows for kind in _KINDS)
    if total != 2 * stake:
        faults.append(f"{total} cents left the match, and {2 * stake} came in")
    return faults


_KINDS = ("payout", "refund", "rake")


async def ledger_faults(config: Config, books: list[Books]) -> list[str]:
    """Return the faults of the ledger in a database on which no service runs."""
    database = open_database(config, inline=True, on_locked=lambda is_new: None)
    try:
        report = await check_ledger(database.reader)
    finally:
        database.close()
    if not report.sound:
        return [f"the ledger is not sound: {report}"]
    kept = sum(totals.rake_usd_cents for totals in report.totals)
    told = sum(row.get("rakeUsdCents", 0) for each in books for row in each.rows.values())
    return [] if kept == told else [f"the ledger keeps {kept} cents of rake, the feed tells {told}"]
