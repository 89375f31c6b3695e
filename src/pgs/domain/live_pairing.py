"""Live pairing, rule `live.v1`: once a second, the waiting seats of each pool are paired by skill.

docs/pairing.md explains it. All numbers are whole millionths of a rating point, so that equal costs
compare as equal and only age breaks a tie.
"""

from collections.abc import Iterable, Sequence
from math import isqrt
from typing import Literal

import msgspec

from pgs.domain.pairing import is_open
from pgs.domain.ratings import PERFORMANCE, POINT, Rating
from pgs.domain.seats import Seat

LIVE_RULE = "live.v1"

ALLOWANCE_PER_S = POINT // 20
"""Millionths of a point by which each second of waiting lowers the cost of a seat's pairs. A minute
outweighs a gap of three points, at which the stronger player wins seven games of ten. So among
similar pairs, one with a seat that has waited a minute goes first."""

CAP_START = 4 * POINT
"""Millionths of a point: the widest gap that a seat accepts when it begins to wait. At four points
the stronger player wins three games of four. At a wider gap it is better to wait some seconds for a
nearer opponent."""

CAP_PER_S = 71 * POINT // 400
"""Millionths of a point by which each second of waiting widens the accepted gap. After 20 s a seat
accepts 7.55 points, at which the stronger player wins nine games of ten."""

OPEN_AFTER_S = 60
"""Seconds of waiting after which a seat accepts any opponent. A one-sided game is better than no
game once nobody nearer has come for a minute."""

ANY_GAP = 10**15
"""Millionths of a point: a cap that no gap reaches."""

REMATCH_PENALTY = 2 * POINT
"""Millionths of a point added to the cost of a pair whose players have just met, while others wait
too. It is half of `CAP_START`, so equal players meet again without a wait if nobody else fits."""

NEIGHBOURS = 4
"""Opponents with equal or higher ratings that are considered for a seat: the nearest acceptable
ones. A pair with a lower-rated opponent is considered when it is that opponent's turn. In a large
pool the nearest are so close that a further one cannot be much cheaper. A wave over 5,000 seats
takes 60 ms with 4 neighbours."""

SCAN = 32
"""Seats examined to find those opponents. A seat is skipped if it has not waited long enough to
accept the gap."""

HeldBack = Literal["player_absent", "player_busy"]
"""Why a waiting seat is not paired: its player has left, or plays another live match."""


def held_back(*, here: bool, busy: bool) -> HeldBack | None:
    """Return why a waiting live seat is not paired now, or None."""
    if not here:
        return "player_absent"
    return "player_busy" if busy else None


class WaitingSeat(msgspec.Struct, frozen=True):
    """A waiting seat with its player's rating.

    `waves`: waves of its pool since the seat began to wait, the present one included.
    """

    seat: Seat
    rating: Rating
    waves: int = 1


class Pair(msgspec.Struct, frozen=True):
    """Two seats that will play each other, and why. `older` has the lower sequence.

    `gap` (between the ratings) and `allowance` (of both seats together) are in millionths of a
    point. `candidates`: how many acceptable pairs the older seat was in, this one included.
    """

    older: WaitingSeat
    newer: WaitingSeat
    gap: int
    allowance: int
    candidates: int


def allowance(waited_s: int) -> int:
    """Return by how much a wait lowers the cost of a seat's pairs, in millionths of a point."""
    return ALLOWANCE_PER_S * waited_s


def cap(waited_s: int) -> int:
    """Return the widest gap that a seat accepts after `waited_s`, in millionths of a point.

    It is compared with the `certain_gap` of a pair, plus the rematch penalty if there is one.
    """
    return ANY_GAP if waited_s >= OPEN_AFTER_S else CAP_START + CAP_PER_S * waited_s


def certain_gap(one: Rating, other: Rating) -> int:
    """Return the part of a rating gap that the two ratings' uncertainty does not explain.

    Two players with exactly known ratings and a gap of this size would have the same chances to
    win as this pair.
    """
    spread = isqrt(PERFORMANCE**2 + one.sigma**2 + other.sigma**2)
    return abs(one.mu - other.mu) * PERFORMANCE // spread


def pair_wave(waiting: Iterable[WaitingSeat], now: int) -> list[Pair]:
    """Return the pairs that one wave makes of the seats of one pool, the cheapest first.

    The cost of a pair is the certain part of its rating gap, plus a penalty, minus both seats'
    allowances. The penalty applies if either player was the other's last opponent and a third
    player waits. A pair is acceptable when the certain part plus the penalty is within the caps of
    both seats. The cheapest acceptable pair is made first, then the cheapest of those whose seats
    are both still free, and so on. Of pairs with equal costs, the one with the oldest seat goes
    first. Seats that are no longer open are left out. Of each player only the oldest seat takes
    part, because a player can play only one match.

    Only pairs of neighbours by rating are considered (`NEIGHBOURS`, `SCAN`). In a pool of up to
    `NEIGHBOURS` + 1 players, all pairs are considered. The work for n seats is O(n log n).
    """
    oldest: dict[str, WaitingSeat] = {}
    for one in waiting:
        if is_open(one.seat, now):
            known = oldest.setdefault(one.seat.player_id, one)
            if one.seat.seq < known.seat.seq:
                oldest[one.seat.player_id] = one
    line = sorted(oldest.values(), key=lambda one: (one.rating.mu, one.seat.seq))
    edges, candidates = _edges(line, now)
    edges.sort()
    taken: set[int] = set()
    pairs = []
    for _, _, _, left, right in edges:
        if left in taken or right in taken:
            continue
        taken.update((left, right))
        first, second = (
            (left, right) if line[left].seat.seq < line[right].seat.seq else (right, left)
        )
        pairs.append(
            Pair(
                older=line[first],
                newer=line[second],
                gap=line[right].rating.mu - line[left].rating.mu,
                allowance=allowance(_waited(line[first], now))
                + allowance(_waited(line[second], now)),
                candidates=candidates[first],
            )
        )
    return pairs


def explain(pair: Pair, now: int, begins: str) -> dict[str, str | int | float]:
    """Return the explanation that is stored with a live match and served as `pairing`.

    Gap and allowance are in points, rounded to hundredths. `begins`: the player who moves first.
    """
    return {
        "rule": LIVE_RULE,
        "waitedSeconds": _waited(pair.older, now),
        "ratingGap": round(pair.gap / POINT, 2),
        "allowance": round(pair.allowance / POINT, 2),
        "waves": pair.older.waves,
        "candidates": pair.candidates,
        "begins": begins,
    }


def _waited(one: WaitingSeat, now: int) -> int:
    return max(0, now - (one.seat.confirmed_at or now))


# The cost, the sequences of the older and the newer seat, and the places of the two seats in `line`
# (the lower rating first).
_Edge = tuple[int, int, int, int, int]


def _edges(line: Sequence[WaitingSeat], now: int) -> tuple[list[_Edge], list[int]]:
    """Return the acceptable pairs of neighbours in `line`.

    Also return, for each place in `line`, how many of these pairs it belongs to.
    """
    size = len(line)
    players = [one.seat.player_id for one in line]
    sequences = [one.seat.seq for one in line]
    means = [one.rating.mu for one in line]
    variances = [one.rating.sigma**2 for one in line]
    last = [one.rating.last_opponent for one in line]
    allowances = [allowance(_waited(one, now)) for one in line]
    caps = [cap(_waited(one, now)) for one in line]
    penalty = REMATCH_PENALTY if size > 2 else 0
    most = PERFORMANCE**2 + max(variances, default=0)

    edges: list[_Edge] = []
    candidates = [0] * size
    for left in range(size):
        player, mean, own_cap, own_last = players[left], means[left], caps[left], last[left]
        # If the rating gap is wider than this, its certain part exceeds the seat's cap.
        reach = own_cap * (isqrt(most + variances[left]) + 1) // PERFORMANCE + 1
        found = 0
        for right in range(left + 1, min(size, left + 1 + SCAN)):
            gap = means[right] - mean
            if gap > reach:
                break  # the line is sorted, so the gap to every later seat is at least as wide
            spread = isqrt(PERFORMANCE**2 + variances[left] + variances[right])
            cost = gap * PERFORMANCE // spread
            if own_last == players[right] or last[right] == player:
                cost += penalty
            if cost <= own_cap and cost <= caps[right]:
                cost -= allowances[left] + allowances[right]
                if sequences[left] < sequences[right]:
                    edges.append((cost, sequences[left], sequences[right], left, right))
                else:
                    edges.append((cost, sequences[right], sequences[left], left, right))
                candidates[left] += 1
                candidates[right] += 1
                found += 1
                if found == NEIGHBOURS:
                    break
    return edges, candidates
