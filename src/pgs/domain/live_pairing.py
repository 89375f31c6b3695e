"""Live pairing, rule `live.v1`: once a second the seats that wait for the same thing are paired by skill. docs/pairing.md explains it.

All numbers are whole millionths of a rating point, so that equal costs are equal and ties go by age alone.
"""

from collections.abc import Iterable, Sequence

import msgspec

from pgs.domain.pairing import is_open
from pgs.domain.ratings import POINT, Rating
from pgs.domain.seats import Seat

LIVE_RULE = "live.v1"

ALLOWANCE_PER_S = POINT // 20
"""Millionths of a point by which each second of waiting makes a seat's pairs cheaper. A minute of
it outweighs three points, the gap at which the stronger wins seven of ten, so a seat that has
waited that long goes first among similar pairs."""

CAP_START = 4 * POINT
"""Millionths of a point of the gap that a seat accepts at once: four points, at which the stronger
wins three of four. A wider gap is no match worth money while a nearer opponent may come within
seconds."""

CAP_PER_S = POINT // 20
"""Millionths of a point by which each second of waiting widens the accepted gap. When a live seat
expires, after 300 s, it accepts 19 points; at a wider gap the stronger would win 999 of 1000."""

REMATCH_PENALTY = 2 * POINT
"""Millionths of a point that a pair costs more if the two have just met. It is half of what is
accepted at once, so two equal players who are alone play again without a wait."""

NEIGHBOURS = 4
"""Opponents weighed on each side of a seat, by rating. In a crowd the nearest are so near that a
further one cannot be much cheaper. A wave over 5,000 seats takes 40 ms with 4 of them, and 80 ms
with 8."""

SCAN = 32
"""Seats looked at on each side to find those opponents. The others are the player's own, or have
not waited long enough to accept the gap."""


class Waiting(msgspec.Struct, frozen=True):
    """A seat that waits, with its player's rating and the number of waves that it has been through, this one included."""

    seat: Seat
    rating: Rating
    waves: int = 1


class Pair(msgspec.Struct, frozen=True):
    """Two seats that are to play, the older one (by sequence) first, and why.

    `gap` and `allowance` in millionths of a point; `candidates`: how many opponents were acceptable to the older one, its own included.
    """

    older: Waiting
    newer: Waiting
    gap: int
    allowance: int
    candidates: int


def allowance(waited_s: int) -> int:
    """Return by how much a seat's waiting makes its pairs cheaper, in millionths of a point."""
    return ALLOWANCE_PER_S * waited_s


def cap(waited_s: int) -> int:
    """Return the widest gap, rematch penalty included, that a seat accepts after so many seconds; in millionths of a point."""
    return CAP_START + CAP_PER_S * waited_s


def pair_wave(waiting: Iterable[Waiting], now: int) -> list[Pair]:
    """Return the pairs that one wave makes of the seats of one pool, the cheapest first.

    A pair costs its rating gap, plus a penalty if either was the other's last opponent, less both seats' allowances. It is acceptable when
    gap and penalty are within the caps of both. The cheapest acceptable pair is taken, then the cheapest of what is left, and so on; equal
    costs go to the older seat. Weighed are only pairs of neighbours by rating (`NEIGHBOURS`, `SCAN`), which is every pair in pools of up to
    `NEIGHBOURS` + 1 seats; with n seats the work is of the order of n log n. A seat that is not open any more takes no part.
    """
    line = sorted(
        (one for one in waiting if is_open(one.seat, now)),
        key=lambda one: (one.rating.mu, one.seat.seq),
    )
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


def explain(pair: Pair, now: int) -> dict[str, str | int | float]:
    """Return the explanation that is stored with a live match and served as `pairing`. Gap and allowance in points, to the hundredth."""
    return {
        "rule": LIVE_RULE,
        "waitedSeconds": _waited(pair.older, now),
        "ratingGap": round(pair.gap / POINT, 2),
        "allowance": round(pair.allowance / POINT, 2),
        "waves": pair.older.waves,
        "candidates": pair.candidates,
    }


def _waited(one: Waiting, now: int) -> int:
    return max(0, now - (one.seat.confirmed_at or now))


_Edge = tuple[
    int, int, int, int, int
]  # cost, sequences of the older and the newer seat, their places in line


def _edges(line: Sequence[Waiting], now: int) -> tuple[list[_Edge], list[int]]:
    """Return the acceptable pairs of neighbours in line, and for each place in it of how many of them it is part."""
    size = len(line)
    players = [one.seat.player_id for one in line]
    sequences = [one.seat.seq for one in line]
    means = [one.rating.mu for one in line]
    last = [one.rating.last_opponent for one in line]
    allowances = [allowance(_waited(one, now)) for one in line]
    caps = [cap(_waited(one, now)) for one in line]
    # Where the next seat of another player stands: one who holds many seats must not be looked through seat by seat.
    next_other = [size] * size
    for place in range(size - 2, -1, -1):
        next_other[place] = (
            place + 1 if players[place + 1] != players[place] else next_other[place + 1]
        )

    edges: list[_Edge] = []
    candidates = [0] * size
    for left in range(size):
        player, mean, own_cap, own_last = players[left], means[left], caps[left], last[left]
        right, found = next_other[left], 0
        for _ in range(SCAN):
            if right >= size or means[right] - mean > own_cap:
                break  # the line is sorted: all further ones are further away still
            other = players[right]
            if other == player:
                right = next_other[right]
                continue
            cost = means[right] - mean
            if own_last == other or last[right] == player:
                cost += REMATCH_PENALTY
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
            right += 1
    return edges, candidates
