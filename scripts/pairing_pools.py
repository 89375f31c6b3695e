"""Small pools of players who play one another again and again, before and after a change of rule.

Part of scripts/simulate_pairing.py. A pool is closed: its players wait, play, rest, and wait again.
Everybody begins unrated, and each result moves the ratings as in the service.
"""

import random
from collections.abc import Callable
from statistics import mean

import msgspec

from pgs.domain.live_pairing import WaitingSeat, pair_wave
from pgs.domain.ratings import PERFORMANCE, POINT, UNRATED, Rating, after_match
from pgs.domain.seats import WAIT_S, Seat

POOLS = (2, 4, 20, 100)
DAY_S = 14_400  # seconds of a simulated day
SPREAD = 5.0  # standard deviation of the players' skills, in points
MATCH_S = 90  # mean seconds of a match
REST_S = 20  # mean seconds from the end of a match to the player's next seat
BEFORE, AFTER = "before", "after"

Rule = Callable[[list[WaitingSeat], int], list[tuple[WaitingSeat, WaitingSeat]]]


class Pool(msgspec.Struct):
    """The results of a pool under one rule. `waits` in seconds, `gaps` of skill in points."""

    waits: list[int]
    gaps: list[float]
    expired: int = 0


def after(waiting: list[WaitingSeat], now: int) -> list[tuple[WaitingSeat, WaitingSeat]]:
    """Pair as the service does now."""
    return [(pair.older, pair.newer) for pair in pair_wave(waiting, now)]


def before(waiting: list[WaitingSeat], now: int) -> list[tuple[WaitingSeat, WaitingSeat]]:
    """Pair as the service first did.

    The whole rating gap counts, even the part that the ratings' uncertainty explains. The widest
    gap that is allowed begins at four points and grows by a twentieth of a point with each second
    that both seats have waited. It still applies after a minute, when the service now allows any
    gap. If either player was the other's last opponent, the gap counts as two points wider, even if
    nobody else waits.
    """
    offers = []
    for number, one in enumerate(waiting):
        for other in waiting[number + 1 :]:
            waits = [now - (seat.confirmed_at or now) for seat in (one.seat, other.seat)]
            strain = abs(one.rating.mu - other.rating.mu)
            if (
                one.rating.last_opponent == other.seat.player_id
                or other.rating.last_opponent == one.seat.player_id
            ):
                strain += 2 * POINT
            if strain <= 4 * POINT + min(waits) * POINT // 20:
                offers.append((strain - sum(waits) * POINT // 20, one.seat.seq, one, other))
    taken: set[str] = set()
    pairs = []
    for _, _, one, other in sorted(offers, key=lambda offer: offer[:2]):
        players = {one.seat.player_id, other.seat.player_id}
        if not players & taken:
            taken |= players
            pairs.append((one, other))
    return pairs


def play_pool(players: int, rule: Rule, seed: int, day_s: int = DAY_S) -> Pool:
    """Return the results of a pool of players after a day under a rule."""
    chance = random.Random(seed)
    skills = {f"p{number}": chance.gauss(25, SPREAD) for number in range(players)}
    ratings = dict.fromkeys(skills, UNRATED)
    sits_at = {player: round(chance.expovariate(1 / REST_S)) for player in skills}
    waiting: dict[str, Seat] = {}
    pool = Pool([], [])
    sequence = 0
    for now in range(day_s):
        for player, at in sits_at.items():
            if at == now:
                sequence += 1
                waiting[player] = seat_of(sequence, player, now)
        for player, seat in list(waiting.items()):
            if (seat.due_at or 0) <= now:
                del waiting[player]
                pool.expired += 1
                sits_at[player] = now + 1 + round(chance.expovariate(1 / REST_S))
        line = [WaitingSeat(seat, ratings[player]) for player, seat in waiting.items()]
        for one, other in rule(line, now + 1) if len(line) > 1 else ():
            pair = (one.seat.player_id, other.seat.player_id)
            pool.gaps.append(abs(skills[pair[0]] - skills[pair[1]]))
            _meet(pair, skills, ratings, chance)
            ends = now + 1 + round(chance.expovariate(1 / MATCH_S))
            for player in pair:
                pool.waits.append(now + 1 - (waiting.pop(player).confirmed_at or 0))
                sits_at[player] = ends + round(chance.expovariate(1 / REST_S)) + 1
    return pool


def _meet(
    pair: tuple[str, str],
    skills: dict[str, float],
    ratings: dict[str, Rating],
    chance: random.Random,
) -> None:
    """Play a match, and move the ratings of its players."""
    margin = skills[pair[0]] - skills[pair[1]] + chance.gauss(0, PERFORMANCE / POINT)
    result = after_match(
        pair, (ratings[pair[0]], ratings[pair[1]]), "won" if margin > 0 else "lost"
    )
    ratings.update(zip(pair, result, strict=True))


def seat_of(sequence: int, player: str, now: int) -> Seat:
    """Return a live seat that a player takes at the time `now`."""
    return Seat(
        partner_id="pool",
        environment="live",
        seat_id=f"sea_{sequence}",
        seq=sequence,
        idempotency_key=str(sequence),
        player_id=player,
        game_id="reversi",
        tier_id="bronze",
        tier_revision=1,
        sent_usd_cents=100,
        stake_usd_cents=100,
        prize_usd_cents=180,
        partner_ref=None,
        status="waiting",
        stake_status="confirmed",
        seated_at=now,
        confirmed_at=now,
        expires_at=now + WAIT_S["live"],
        due_at=now + WAIT_S["live"],
    )


def pools_table(seed: int, day_s: int = DAY_S) -> str:
    """Return the figures of all pools under both rules, as a Markdown table."""
    lines = [
        "| Pool | rule | seats paired | wait: mean, s | p95 | longest | expired "
        "| gap of skill: mean, points | p95 |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for players in POOLS:
        for name, rule in ((BEFORE, before), (AFTER, after)):
            days = [
                play_pool(players, rule, seed + number, day_s) for number in range(_days(players))
            ]
            waits = sorted(wait for day in days for wait in day.waits) or [0]
            gaps = sorted(gap for day in days for gap in day.gaps) or [0.0]
            cells = [str(players), name, f"{sum(len(day.waits) for day in days):,}"]
            cells += [f"{mean(waits):.1f}", str(waits[int(0.95 * len(waits))]), str(waits[-1])]
            cells += [f"{sum(day.expired for day in days):,}"]
            cells += [f"{mean(gaps):.2f}", f"{gaps[int(0.95 * len(gaps))]:.2f}"]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _days(players: int) -> int:
    """Return how many pools of a size are played.

    The figures of a small pool depend on the few players that are drawn, so more such pools are
    played.
    """
    return max(1, 40 // players)
