"""Who moves first in a live match. The first move is worth money, so it is shared out."""

import msgspec


class Openings(msgspec.Struct, frozen=True):
    """How many live matches of a game a player has started, and in how many of them moved first."""

    matches: int = 0
    begun: int = 0


def first_begins(first: Openings, second: Openings, lot: int) -> bool:
    """Return whether the first of two players moves first.

    It is the one who has begun the smaller share of their matches. Where the shares are equal, an
    odd `lot` decides for the first.
    """
    one, two = first.begun * max(1, second.matches), second.begun * max(1, first.matches)
    return one < two if one != two else lot % 2 == 1
