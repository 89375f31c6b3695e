#!/usr/bin/env python3
"""Compares live pairing with pairing in the order of arrival: waiting times and rating gaps.

It writes the picture of docs/pairing.md and prints the table below that picture.

    scripts/simulate_pairing.py            crowds of 20 to 5,000 players: about half a minute
    scripts/simulate_pairing.py --quick    small crowds for a short time, to see that it works

It calls the service's own function, `pgs.domain.live_pairing.pair_wave`, once for each simulated
second. The same seed draws the same players, so both rules pair the same crowd.
"""

import in_venv  # the first import, because the packages below are installed in .venv

# isort: split

import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Annotated

import msgspec
import typer
from pairing_pools import DAY_S as POOL_DAY_S
from pairing_pools import pools_table, seat_of
from rich.console import Console
from rich.progress import Progress

from pgs.domain.live_pairing import WaitingSeat, pair_wave
from pgs.domain.ratings import POINT, Rating
from pgs.domain.seats import WAIT_S

DOCS = Path(__file__).resolve().parent.parent / "docs"
CROWDS = (20, 100, 500, 2000, 5000)
QUICK_CROWDS = (20, 100)
SPREAD = 5.0  # standard deviation of the players' ratings, in points, around the mean of 25
DAY_S = 7200  # seconds of a simulated day: a day's profile of arrivals, compressed to two hours
QUICK_DAY_S = 600
BACK_AFTER_S = 120  # mean seconds from a player's pairing to the player's next seat
RETURNS = 0.5  # share of the players that come back after a match
DOTS = 260  # dots drawn for each rule and crowd
LIVE, ARRIVAL = "live.v1", "order of arrival"

app = typer.Typer(add_completion=False)


class Met(msgspec.Struct, frozen=True):
    """One seat of a pair: its waiting time in seconds, and the pair's rating gap in points."""

    waited_s: int
    gap: float


class Outcome(msgspec.Struct):
    """The results of a crowd under one rule."""

    met: list[Met]
    expired: int = 0
    most_waiting: int = 0
    slowest_wave_ms: float = 0.0
    rematches: int = 0


Rule = Callable[[list[WaitingSeat], int], list[tuple[WaitingSeat, WaitingSeat]]]


def live_rule(waiting: list[WaitingSeat], now: int) -> list[tuple[WaitingSeat, WaitingSeat]]:
    """Pair as the service does in live environments."""
    return [(pair.older, pair.newer) for pair in pair_wave(waiting, now)]


def arrival_rule(waiting: list[WaitingSeat], now: int) -> list[tuple[WaitingSeat, WaitingSeat]]:
    """Pair in the order of arrival, also once a second."""
    return list(zip(waiting[::2], waiting[1::2], strict=False))


def arrivals(players: int, day_s: int, chance: random.Random) -> Iterator[int]:
    """Yield the number of new players in each second of a day.

    The day starts with all `players` of the crowd, as after a maintenance window. Then a Poisson
    process adds as many again every five minutes on average. Its daily profile runs from a quarter
    of the mean at night to nearly double in the evening.
    """
    yield players
    mean_rate = players / WAIT_S["live"]
    for second in range(1, day_s):
        yield _poisson(
            mean_rate * (1 + 0.75 * math.sin(2 * math.pi * second / day_s - math.pi / 2)), chance
        )


def _poisson(expected: float, chance: random.Random) -> int:
    # At most about 30 players are expected in a second, so counting exponential gaps is fast.
    count, at = 0, chance.expovariate(1.0)
    while at < expected:
        count += 1
        at += chance.expovariate(1.0)
    return count


def play(players: int, rule: Rule, day_s: int, seed: int, tick: Callable[[], None]) -> Outcome:
    """Return the results of a rule over one day of one crowd. `tick` is called for each second."""
    chance = random.Random(seed)
    coming = list(arrivals(players, day_s, chance))
    skills = random.Random(seed + 1)
    outcome = Outcome([])
    waiting: dict[int, WaitingSeat] = {}
    back: dict[int, list[tuple[str, int, str]]] = {}
    sequence = number = 0
    for now in range(day_s):
        sitting: list[tuple[str, int, str | None]] = [*back.pop(now, [])]
        for _ in range(coming[now]):
            number += 1
            sitting.append((f"p{number}", round(skills.gauss(25, SPREAD) * POINT), None))
        for player, mu, last in sitting:
            sequence += 1
            waiting[sequence] = _sit(sequence, player, mu, last, now)
        for place in [place for place, one in waiting.items() if (one.seat.due_at or 0) <= now]:
            del waiting[place]
            outcome.expired += 1
        outcome.most_waiting = max(outcome.most_waiting, len(waiting))
        # The wave is at the end of the second, so a seat taken during it counts as waiting for 1 s.
        seats = list(waiting.values())
        begun = time.process_time()
        pairs = rule(seats, now + 1)
        outcome.slowest_wave_ms = max(outcome.slowest_wave_ms, 1000 * (time.process_time() - begun))
        for older, newer in pairs:
            gap = abs(older.rating.mu - newer.rating.mu) / POINT
            outcome.rematches += older.rating.last_opponent == newer.seat.player_id
            for one, other in ((older, newer), (newer, older)):
                del waiting[one.seat.seq]
                outcome.met.append(Met(now + 1 - (one.seat.confirmed_at or 0), gap))
                if skills.random() < RETURNS:
                    at = now + 1 + round(skills.expovariate(1 / BACK_AFTER_S))
                    back.setdefault(at, []).append(
                        (one.seat.player_id, one.rating.mu, other.seat.player_id)
                    )
        tick()
    return outcome


def _sit(sequence: int, player: str, mu: int, last: str | None, now: int) -> WaitingSeat:
    return WaitingSeat(seat_of(sequence, player, now), Rating(mu, POINT, last_opponent=last))


def quantile(values: Sequence[float], part: float) -> float:
    """Return the value below which `part` of the values lies; 0 when there are none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))] if ordered else 0.0


def table(results: dict[int, dict[str, Outcome]]) -> str:
    """Return the figures as a Markdown table."""
    lines = [
        "| Crowd | rule | seats paired | wait: mean, s | p50 | p95 | gap: mean, points | p50 | p95 "
        "| rematches | expired | most seats waiting |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for crowd, rules in results.items():
        for rule, outcome in rules.items():
            waits, gaps = (
                [float(met.waited_s) for met in outcome.met],
                [met.gap for met in outcome.met],
            )
            cells = [f"{crowd:,}", rule, f"{len(outcome.met):,}", f"{mean(waits or [0]):.1f}"]
            cells += [f"{quantile(waits, part):.0f}" for part in (0.5, 0.95)]
            cells += [
                f"{mean(gaps or [0]):.2f}",
                *(f"{quantile(gaps, part):.2f}" for part in (0.5, 0.95)),
            ]
            cells += [f"{outcome.rematches:,}", f"{outcome.expired:,}", f"{outcome.most_waiting:,}"]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


# --- The picture ---

PANEL_W, PANEL_H, LEFT, TOP, SPACE = 196, 250, 52, 66, 14
WAIT_MAX, GAP_MAX = 300.0, 25.0
COLOURS = {LIVE: "#0b6e99", ARRIVAL: "#d9822b"}


def picture(results: dict[int, dict[str, Outcome]], seed: int) -> str:
    """Return an SVG with a panel for each crowd.

    A panel has dots for a sample of the seats, and a ring at each rule's mean.
    """
    width = LEFT + len(results) * (PANEL_W + SPACE) + 10
    height = TOP + PANEL_H + 58
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
        ' font-family="system-ui, sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="20" font-size="15" font-weight="600">'
        "Waiting time against rating gap, by size of the crowd</text>",
    ]
    for number, (rule, colour) in enumerate(COLOURS.items()):
        mark = LEFT + 6 + number * 150
        out.append(
            f'<circle cx="{mark}" cy="36" r="4" fill="{colour}"/>'
            f'<text x="{mark + 9}" y="40" fill="#222222">{rule}</text>'
        )
    out.append(
        f'<text x="{LEFT + 300}" y="40" fill="#555555">a dot: one seat; a ring: the mean</text>'
    )
    for column, (crowd, rules) in enumerate(results.items()):
        left = LEFT + column * (PANEL_W + SPACE)
        out += _axes(left, f"{crowd:,} players", first=column == 0)
        chance = random.Random(seed)
        for rule in reversed(rules):
            met = rules[rule].met
            dots = [
                _at(left, one.waited_s + chance.uniform(-0.5, 0.5), one.gap)
                for one in chance.sample(met, min(DOTS, len(met)))
            ]
            # A stroke without length and with round ends is the shortest way to write a dot.
            path = "".join(f"M{x:g} {y:g}h0" for x, y in dots)
            out.append(
                f'<path d="{path}" stroke="{COLOURS[rule]}" stroke-opacity="0.45"'
                ' stroke-width="3.4" stroke-linecap="round"/>'
            )
        for rule, outcome in rules.items():
            if outcome.met:
                x, y = _at(
                    left,
                    mean(one.waited_s for one in outcome.met),
                    mean(one.gap for one in outcome.met),
                )
                out.append(
                    f'<circle cx="{x}" cy="{y}" r="6" fill="#ffffff"'
                    f' stroke="{COLOURS[rule]}" stroke-width="3"/>'
                )
    middle = TOP + PANEL_H / 2
    out.append(
        f'<text x="14" y="{middle}" text-anchor="middle" fill="#222222"'
        f' transform="rotate(-90 14 {middle})">rating gap, points</text>'
    )
    out.append(
        f'<text x="{width / 2}" y="{height - 10}" text-anchor="middle" fill="#222222">'
        "seconds waited (square-root scale)</text>"
    )
    return "\n".join([*out, "</svg>", ""])


def _at(left: float, waited: float, gap: float) -> tuple[float, float]:
    # Most seats wait a second and a few wait minutes. A square-root scale shows both.
    x = left + PANEL_W * math.sqrt(min(max(waited, 0.0), WAIT_MAX) / WAIT_MAX)
    return round(x, 1), round(TOP + PANEL_H * (1 - min(gap, GAP_MAX) / GAP_MAX), 1)


def _axes(left: int, title: str, *, first: bool) -> list[str]:
    bottom = TOP + PANEL_H
    out = [
        f'<text x="{left + PANEL_W / 2}" y="{TOP - 7}" text-anchor="middle" fill="#222222">'
        f"{title}</text>",
        f'<rect x="{left}" y="{TOP}" width="{PANEL_W}" height="{PANEL_H}"'
        ' fill="none" stroke="#999999"/>',
    ]
    for seconds in (1, 10, 60, 150, 300):
        x, _ = _at(left, seconds, 0)
        out.append(f'<line x1="{x}" y1="{bottom}" x2="{x}" y2="{bottom + 4}" stroke="#999999"/>')
        out.append(
            f'<text x="{x}" y="{bottom + 17}" text-anchor="middle" font-size="10" fill="#555555">'
            f"{seconds}</text>"
        )
    for points in (0, 5, 10, 15, 20, 25):
        _, y = _at(left, 0, points)
        out.append(f'<line x1="{left}" y1="{y}" x2="{left + PANEL_W}" y2="{y}" stroke="#eeeeee"/>')
        if first:
            out.append(
                f'<text x="{left - 6}" y="{y + 4}" text-anchor="end" font-size="10" fill="#555555">'
                f"{points}</text>"
            )
    return out


@app.command()
def main(
    out: Annotated[Path, typer.Option(help="The file of the picture.")] = DOCS / "pairing.svg",
    seed: Annotated[int, typer.Option(help="The seed of players and arrivals.")] = 1,
    quick: Annotated[bool, typer.Option("--quick", help="Small crowds, for ten minutes.")] = False,
    pools: Annotated[bool, typer.Option("--pools", help="Only small pools, in text.")] = False,
) -> None:
    """Simulate a day of each crowd under both rules; write the picture and print the figures."""
    if pools:
        print(pools_table(seed, QUICK_DAY_S if quick else POOL_DAY_S))
        return
    console = Console(stderr=True)
    crowds, day_s = (QUICK_CROWDS, QUICK_DAY_S) if quick else (CROWDS, DAY_S)
    rules: dict[str, Rule] = {LIVE: live_rule, ARRIVAL: arrival_rule}
    results: dict[int, dict[str, Outcome]] = {}
    with Progress(console=console) as progress:
        for crowd in crowds:
            results[crowd] = {}
            for name, rule in rules.items():
                task = progress.add_task(f"{crowd:,} players, {name}", total=day_s)
                results[crowd][name] = play(
                    crowd, rule, day_s, seed, partial(progress.advance, task)
                )
    out.write_text(picture(results, seed), encoding="utf-8")
    print(table(results))
    for crowd, by_rule in results.items():
        console.print(
            f"{crowd:,} players: the slowest wave took "
            f"{by_rule[LIVE].slowest_wave_ms:.0f} ms of processor time"
        )


if __name__ == "__main__":
    app()
