"""Who moves first in a live match, so that players get this advantage equally often."""

import msgspec


class Openings(msgspec.Struct, frozen=True):
    """A player's live matches of a game, and in how many of them the player moved first."""

    matches: int = 0
    begun: int = 0


def first_begins(first: Openings, second: Openings, lot: int) -> bool:
    """Return whether the first of two players moves first.

    The player who has moved first in the smaller share of their matches does so now. If the shares
    are equal, the first player moves first when `lot` is odd.
    """
    one, two = first.begun * max(1, second.matches), second.begun * max(1, first.matches)
    return one < two or (one == two and lot % 2 == 1)
