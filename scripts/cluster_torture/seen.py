"""What a player saw of a match, and whether the rules and the feed say the same."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from pgs.games.rules import Rules


class Told(msgspec.Struct, frozen=True):
    """The end of a match as a socket told it to a player. `result` is None in a no-contest."""

    outcome: str
    result: str | None
    end_reason: str | None
    due_usd_cents: int


class Side(msgspec.Struct):
    """A player's side of a match. `moves` are those of both players by number, from 0.

    `drops`: open sockets that were lost. `given_up`: handshakes without an answer in time.
    `replaced`: open sockets that the service closed because it read such a handshake later.
    """

    player_id: str
    seat_id: str = ""
    match_id: str = ""
    you: int = -1
    moves: dict[int, str] = {}
    told: Told | None = None
    drops: int = 0
    given_up: int = 0
    replaced: int = 0

    def see(self, number: int, move: str) -> str:
        """Note a move; return what is wrong with it, or ''."""
        known = self.moves.setdefault(number, move)
        if known == move:
            return ""
        return f"{self.player_id} saw {known} as move {number} of {self.match_id}, and then {move}"

    def see_all(self, ply: int, moves: Sequence[str]) -> list[str]:
        """Note the moves of a snapshot; return what contradicts the moves seen before."""
        first = ply - len(moves)
        wrong = [self.see(first + place, move) for place, move in enumerate(moves)]
        if self.moves and ply <= max(self.moves):
            wrong.append(f"{self.match_id} is at ply {ply}: {self.player_id} saw {len(self.moves)}")
        return [found for found in wrong if found]

    def hear(self, told: Told) -> str:
        """Note how the match ended; return what is wrong if another end was told before."""
        before, self.told = self.told, told
        if before in (None, told):
            return ""
        return f"{self.player_id} was told {before} of {self.match_id}, and then {told}"


def wrong_in(
    sides: Sequence[Side], rows: Mapping[str, Mapping[str, Any]], rules: Rules
) -> list[str]:
    """Return how a match differs between its players, the rules and the feed.

    `rows`: the newest row of each seat of the feed.
    """
    return [
        wrong
        for side in sides
        if (wrong := _wrong_for(side, rows.get(side.seat_id)) or _wrong_moves(side, sides, rules))
    ]


def _wrong_for(side: Side, row: Mapping[str, Any] | None) -> str:
    told = side.told
    if told is None:
        return f"{side.player_id} was never told how {side.match_id} ended"
    if row is None:
        return f"the feed lacks {side.player_id} of {side.match_id}, who was told {told}"
    paid = (row.get("payoutUsdCents") or 0) + (row.get("refundUsdCents") or 0)
    said = Told(row["outcome"], row.get("result"), row.get("endReason"), paid)
    if row["matchId"] != side.match_id or said != told:
        return f"{side.player_id} was told {told} of {side.match_id}, and the feed says {row}"
    return ""


def _wrong_moves(side: Side, sides: Sequence[Side], rules: Rules) -> str:
    """Replay a match that was played to its end; return what is wrong with it."""
    assert side.told is not None
    if side.told.end_reason != "completed":
        return ""
    moves = sides[0].moves | sides[1].moves
    if any(moves[number] != move for one in sides for number, move in one.moves.items()):
        return f"the players of {side.match_id} saw different moves"
    if sorted(moves) != list(range(len(moves))):
        return f"nobody saw some of the moves of {side.match_id}: {sorted(moves)}"
    state = rules.initial()
    for number in range(len(moves)):
        state = rules.apply(state, moves[number])
    outcome = rules.outcome(state)
    if outcome is None:
        return f"{side.match_id} was completed after {len(moves)} moves, which do not end it"
    result = "drawn" if outcome.winner is None else "won" if outcome.winner == side.you else "lost"
    return (
        ""
        if result == side.told.result
        else f"{side.player_id} has {result} {side.match_id} by its moves, and was told {side.told}"
    )
