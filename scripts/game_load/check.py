"""Checks that the feed and the ledger agree with what the players saw of every match."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from game_load.bots import Pair, Side

from pgs.games.rules import Rules
from pgs.storage.ledger import check_ledger
from pgs.storage.sqlite.database import SqliteDatabase

SHOWN = 5  # faults that are printed

Row = Mapping[str, Any]


def faults_of(
    pairs: Sequence[Pair],
    sides: Mapping[str, Side],
    rows: Sequence[Row],
    games: Mapping[str, Rules],
) -> list[str]:
    """Return a line for each match with a fault. `rows`: the whole feed of all partners."""
    by_player: dict[str, list[Row]] = {}
    for row in rows:
        by_player.setdefault(row["playerId"], []).append(row)
    faults = [] if len(rows) == 2 * len(pairs) else [f"{len(rows)} rows for {len(pairs)} matches"]
    for pair in pairs:
        seen = [sides[player] for player in pair.players]
        fault = _fault(
            pair, seen, [by_player.get(player, []) for player in pair.players], games[pair.game_id]
        )
        if fault:
            faults.append(f"{seen[0].match_id or pair.players[0]}: {fault}")
    return faults


def _fault(pair: Pair, seen: Sequence[Side], found: Sequence[Sequence[Row]], rules: Rules) -> str:
    """Replay a match from the moves that its players saw; return its first fault, or ''."""
    broken = [side.fault or "no end" for side in seen if side.fault or not side.outcome]
    if broken:
        return broken[0]
    if any(len(rows) != 1 for rows in found):
        return f"{[len(rows) for rows in found]} rows"
    first, second = seen[0].moves, seen[1].moves
    moves = first | second
    if {**second, **first} != moves or sorted(moves) != list(range(len(moves))):
        return "the players saw different moves"
    state = rules.initial()
    for number in range(len(moves)):
        state = rules.apply(state, moves[number])
    outcome = rules.outcome(state)
    if outcome is None:
        return f"it ended after {len(moves)} moves, which it does not by the rules"
    for number, (side, (row,)) in enumerate(zip(seen, found, strict=True)):
        result = (
            "drawn" if outcome.winner is None else "won" if outcome.winner == number else "lost"
        )
        money = {"won": (180, 0), "lost": (0, 0), "drawn": (0, 100)}[result]
        told = (side.you, side.match_id, side.outcome, side.result, side.end_reason)
        if told != (number, row["matchId"], "ended", result, "completed"):
            return f"{pair.players[number]} was told {told}, and it was {result}"
        if (row["outcome"], row["result"], row["endReason"], row["opponentPlayerId"]) != (
            *told[2:],
            pair.players[1 - number],
        ):
            return f"the feed says {row}"
        if (row["payoutUsdCents"], row["refundUsdCents"]) != money:
            return f"the feed pays {row}"
    if (
        sum(row[f"{kind}UsdCents"] for (row,) in found for kind in ("payout", "refund", "rake"))
        != 200
    ):
        return "the feed's money does not add up"
    return ""


async def ledger_faults(folder: Path, pairs: Sequence[Pair], rows: Sequence[Row]) -> list[str]:
    """Return the faults of the ledger in a folder on which no service runs."""
    database = SqliteDatabase(folder)
    try:
        report = await check_ledger(database.reader)
    finally:
        database.close()
    if not report.sound or any(totals.open_usd_cents for totals in report.totals):
        return [f"the ledger is not sound: {report}"]
    rake = sum(totals.rake_usd_cents for totals in report.totals)
    kept = 200 * len(pairs) - sum(row["payoutUsdCents"] + row["refundUsdCents"] for row in rows)
    return (
        []
        if rake == kept
        else [f"{rake} cents of rake were kept by the ledger, {kept} by the feed"]
    )
