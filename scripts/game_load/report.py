"""Writes the section of docs/benchmarks.md about the rounds."""

from collections.abc import Sequence

from game_load.round import Figures
from nudge_bench.report import bars, cores, paragraph, percentile

SPANS = 10  # parts of a round in the chart of moves a second


def section(rounds: Sequence[Figures], games: Sequence[str]) -> str:
    """Return the section. In the first of `rounds` the bots do not pause before a move."""
    first = rounds[0]
    lines = [
        *_introduction(first, games),
        "",
        "| Thinking | moves | seconds | moves a second | p50, ms | p99, ms | service's core "
        "| service's processor time for a move, ms | bots' core |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for figures in rounds:
        cells = (
            f"{figures.think_s:g} s",
            str(figures.moves),
            f"{figures.play_s:.1f}",
            f"{figures.moves / figures.play_s:.0f}",
            f"{percentile(figures.latencies_ms, 0.5):.1f}",
            f"{percentile(figures.latencies_ms, 0.99):.1f}",
            f"{figures.cpu_s / figures.play_s:.0%}",
            f"{1000 * figures.cpu_s / figures.moves:.2f}",
            f"{figures.bots_cpu_s / figures.play_s:.0%}",
        )
        lines.append(f"| {' | '.join(cells)} |")
    for figures in rounds:
        lines += ["", f"A move's time, thinking {figures.think_s:g} s:", ""]
        shares = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "longest": 1.0}
        lines += bars(
            {name: percentile(figures.latencies_ms, share) for name, share in shares.items()}, "ms"
        )
    lines += [
        "",
        f"Moves a second through the first round, by tenths of its {first.play_s:.1f} s:",
        "",
        *_pace(first),
        "",
    ]
    each_kb = 1024 * (first.open_mb - first.idle_mb) / first.matches
    lines += paragraph(
        f"The {2 * first.matches} handshakes took {first.handshakes_s:.1f} s. The service used "
        f"{first.idle_mb:.0f} MB before them, {first.open_mb:.0f} MB with all sockets and tables "
        f"open ({each_kb:.0f} kB for a match with its two sockets), and {first.peak_mb:.0f} MB at "
        f"most. The money of the last match was in the feed {first.recorded_s:.1f} s after the "
        "last bot had left."
    )
    return "\n".join(lines)


def _introduction(first: Figures, games: Sequence[str]) -> list[str]:
    return [
        *paragraph(
            "How many matches can be played at once? Measured by `scripts/load_games.py` on "
            f"{cores()}, which the service and the bots share."
        ),
        "",
        *paragraph(
            f"{first.matches} matches run at once ({', '.join(games)} in turn). In each, two bots "
            "choose random legal moves. The bots have a process of their own and "
            f"{2 * first.matches} WebSockets to `pgs serve`. All players have joined before the "
            "first move. After the last match the script replays the moves that the bots saw, and "
            "checks that the feed has two rows for each match with the right winner and money. It "
            "also checks that the service has logged nothing unexpected and that the ledger adds "
            "up. A move's time is measured from the moment when a bot sends the move until the "
            "same bot receives it back. In the first round bots answer at once, so there is always "
            "a queue, and a move's time is mostly the time in that queue. In the other round bots "
            "think for a random time with the mean that the table shows."
        ),
    ]


def _pace(figures: Figures) -> list[str]:
    span = figures.play_s / SPANS
    counts = [0] * SPANS
    for at in figures.moved_at:
        counts[min(SPANS - 1, int(at / span))] += 1
    return bars(
        {f"{number * span:5.1f} s": count / span for number, count in enumerate(counts)}, "a second"
    )
