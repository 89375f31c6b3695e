"""Writes the section of docs/benchmarks.md about the rounds."""

from collections.abc import Callable, Sequence
from statistics import median

from game_load.round import SPANS, Figures
from nudge_bench.report import bars, cores, paragraph

SHARES = {"p50": "p50", "p90": "p90", "p99": "p99", "longest": "p100"}


def section(rounds: Sequence[Figures], games: Sequence[str]) -> str:
    """Return the section. The rounds with the first one's thinking come first in the table."""
    kinds = [
        [figures for figures in rounds if figures.think_s == think_s]
        for think_s in dict.fromkeys(figures.think_s for figures in rounds)
    ]
    lines = [
        *_introduction(kinds, games),
        "",
        "| Thinking | moves | seconds | moves a second | p50, ms | p99, ms | service's core "
        "| service's processor time for a move, ms | bots' core |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
        *map(_row, kinds),
    ]
    for each in kinds:
        lines += ["", f"A move's time, thinking {each[0].think_s:g} s:", ""]
        lines += bars({name: _time(each, share) for name, share in SHARES.items()}, "ms")
    first = kinds[0]
    paces = [median(one.pace[part] for one in first) for part in range(SPANS)]
    lines += [
        "",
        f"Moves a second through a round, thinking {first[0].think_s:g} s, by tenths of its time:",
        "",
        *bars({f"{number + 1:2}": pace for number, pace in enumerate(paces)}, "a second"),
        "",
        *_costs(first),
    ]
    return "\n".join(lines)


def _introduction(kinds: Sequence[Sequence[Figures]], games: Sequence[str]) -> list[str]:
    matches, rounds = kinds[0][0].matches, len(kinds[0])
    several = (
        f"There are {rounds} rounds for each row of the table, and the rows take turns. Every "
        "figure is the median of its row's rounds, also p99 and the longest time. "
        if rounds > 1
        else ""
    )
    queue = (
        "Bots that do not think answer at once, so there is always a queue, and a move's time is "
        "mostly the time in that queue. "
        if any(each[0].think_s == 0 for each in kinds)
        else ""
    )
    thinking = (
        "Bots that think do so for a random time with the mean that the table shows."
        if any(each[0].think_s > 0 for each in kinds)
        else ""
    )
    return [
        *paragraph(
            "How many matches can be played at once? Measured by `scripts/load_games.py` on "
            f"{cores()}, which the service and the bots share."
        ),
        "",
        *paragraph(
            f"{matches} matches run at once ({', '.join(games)} in turn). In each, two bots "
            "choose random legal moves. The bots have a process of their own and "
            f"{2 * matches} WebSockets to `pgs serve`. All players have joined before the "
            "first move. After the last match the script replays the moves that the bots saw, and "
            "checks that the feed has two rows for each match with the right winner and money. It "
            "also checks that the service has logged nothing unexpected and that the ledger adds "
            "up. A move's time is measured from the moment when a bot sends the move until the "
            "same bot receives it back. A round plays all matches once, on a new service with an "
            f"empty database. {several}{queue}{thinking}"
        ),
    ]


def _row(rounds: Sequence[Figures]) -> str:
    cells = (
        f"{rounds[0].think_s:g} s",
        f"{_middle(rounds, lambda one: one.moves):.0f}",
        f"{_middle(rounds, lambda one: one.play_s):.1f}",
        f"{_middle(rounds, lambda one: one.moves / one.play_s):.0f}",
        f"{_time(rounds, 'p50'):.1f}",
        f"{_time(rounds, 'p99'):.1f}",
        f"{_middle(rounds, lambda one: one.cpu_s / one.play_s):.0%}",
        f"{_middle(rounds, lambda one: 1000 * one.cpu_s / one.moves):.2f}",
        f"{_middle(rounds, lambda one: one.bots_cpu_s / one.play_s):.0%}",
    )
    return f"| {' | '.join(cells)} |"


def _costs(rounds: Sequence[Figures]) -> list[str]:
    each_kb = _middle(rounds, lambda one: 1024 * (one.open_mb - one.idle_mb) / one.matches)
    return paragraph(
        f"The {2 * rounds[0].matches} handshakes took "
        f"{_middle(rounds, lambda one: one.handshakes_s):.1f} s. The service used "
        f"{_middle(rounds, lambda one: one.idle_mb):.0f} MB before them, "
        f"{_middle(rounds, lambda one: one.open_mb):.0f} MB with all sockets and tables open "
        f"({each_kb:.0f} kB for a match with its two sockets), and "
        f"{_middle(rounds, lambda one: one.peak_mb):.0f} MB at most. The money of the last match "
        f"was in the feed {_middle(rounds, lambda one: one.recorded_s):.1f} s after the last bot "
        "had left."
    )


def _middle(rounds: Sequence[Figures], value: Callable[[Figures], float]) -> float:
    """Return the median of a figure over some rounds."""
    return median(map(value, rounds))


def _time(rounds: Sequence[Figures], share: str) -> float:
    return _middle(rounds, lambda one: one.moves_ms[share])
