"""Who moves first in a live match, so that players get this advantage equally often."""

import msgspec


class FirstMoves(msgspec.Struct, frozen=True):
    """A player's live matches of a game, and in how many of them the player moved first."""

    matches: int = 0
    moved_first: int = 0


def moves_first(player: FirstMoves, opponent: FirstMoves, lot: int) -> bool:
    """Return whether the player moves first in a match against the opponent.

    The one who has moved first in the smaller share of their matches does so now. If the shares are
    equal, the player moves first when `lot`, a random number, is odd.
    """
    share = player.moved_first * max(1, opponent.matches)
    opponents_share = opponent.moved_first * max(1, player.matches)
    return share < opponents_share or (share == opponents_share and lot % 2 == 1)
