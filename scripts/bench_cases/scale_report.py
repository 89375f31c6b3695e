"""Writes the sections about many partners, idle WebSockets, and a noisy partner."""

from statistics import median
from typing import Any

from bench_cases.caller import Outcome
from bench_cases.noise import NOISY_CONNECTIONS, RATE, Noise
from bench_cases.partners import Size
from bench_cases.sockets import Idle
from nudge_bench.report import bars, cores, paragraph


def partners_section(sizes: list[Size], calls: int) -> tuple[str, dict[str, Any]]:
    """Return the text about services with few and with many partners, and its figures."""
    rounds = len(sizes[0].seat)
    text = [
        *paragraph(
            f"What does a launch cost with one partner, and with very many? Measured by "
            f"`scripts/bench.py partners` on {cores()}, in {rounds} rounds of {calls:,} mints and "
            f"{calls:,} seats over 32 connections. Each row of the table has a service of its own. "
            "A round measures these services one after the other. In a service the partners take "
            "turns, call by call. Processor time of the process, medians; resident memory just "
            "after the start, and after all rounds. The seats of one partner are decided "
            "together, so they are cheaper."
        ),
        "",
        "| Partners | start, s | memory at the start, MB | at the end, MB | mint, µs | seat, µs |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for size in sizes:
        cells = (
            f"{size.partners:,}",
            f"{size.start_s:.1f}",
            f"{size.idle_mb:.0f}",
            f"{size.used_mb:.0f}",
            f"{median(size.mint):.0f}",
            f"{median(size.seat):.0f}",
        )
        text.append(f"| {' | '.join(cells)} |")
    text += ["", "Processor time of a call:", "", *_bars_of_calls(sizes)]
    text += ["", "Resident memory:", "", *_bars_of_memory(sizes)]
    return "\n".join(text), {str(size.partners): vars(size) for size in sizes}


def _bars_of_calls(sizes: list[Size]) -> list[str]:
    mints = {f"mint, {_partners(size)}": median(size.mint) for size in sizes}
    seats = {f"seat, {_partners(size)}": median(size.seat) for size in sizes}
    return bars(mints | seats, "µs", 0)


def _bars_of_memory(sizes: list[Size]) -> list[str]:
    starts = {f"at the start, {_partners(size)}": size.idle_mb for size in sizes}
    ends = {f"at the end, {_partners(size)}": size.used_mb for size in sizes}
    return bars(starts | ends, "MB", 0)


def _partners(size: Size) -> str:
    return f"{size.partners:,} partner{'' if size.partners == 1 else 's'}"


def sockets_section(found: Idle, rest_s: float) -> tuple[str, dict[str, Any]]:
    """Return the text about idle WebSockets, and its figures."""
    each_kb = 1024 * (found.open_mb - found.before_mb) / found.sockets
    text = paragraph(
        f"What do players cost who only wait? Measured by `scripts/bench.py sockets` on {cores()}: "
        f"{found.sockets:,} WebSockets of as many players, none of whom has a seat. A handshake "
        f"takes **{found.handshake_us:.0f} µs** of the service's processor time. The service used "
        f"{found.before_mb:.0f} MB before them and {found.open_mb:.0f} MB with them, which is "
        f"**{each_kb:.1f} kB** for each. While they are idle, for {rest_s:g} s with a ping every "
        f"20 s, the service uses **{found.core:.1%}** of a core."
    )
    memory = {"before": found.before_mb, "with the WebSockets": found.open_mb}
    text += ["", "Resident memory:", "", *bars(memory, "MB", 0)]
    return "\n".join(text), vars(found)


def noise_section(found: Noise, seconds: float) -> tuple[str, dict[str, Any]]:
    """Return the text about a noisy partner, and its figures."""
    rows = {"alone": found.alone, "beside the noisy partner": found.beside}
    times = {name: _times_ms(outcomes) for name, outcomes in rows.items()}
    text = [
        *paragraph(
            "Does a partner that calls without pause slow another one down? Measured by "
            f"`scripts/bench.py noise` on {cores()}, which the callers share. A quiet partner "
            f"takes {RATE:g} seats a second, for {seconds:g} s at a time. Beside it, a noisy "
            f"partner takes seats over {NOISY_CONNECTIONS} connections as fast as it is answered. "
            f"Its bucket refuses **{found.refused / max(1, found.answered):.0%}** of its calls. "
            "Times of the quiet partner's seats; medians of "
            f"{len(found.alone)} rounds of each case, the two cases in turn."
        ),
        "",
        "| The quiet partner | p50, ms | p99, ms |",
        "| --- | --- | --- |",
    ]
    text += [f"| {name} | {p50:.1f} | {p99:.1f} |" for name, (p50, p99) in times.items()]
    chart = {f"p50, {name}": p50 for name, (p50, _) in times.items()}
    chart |= {f"p99, {name}": p99 for name, (_, p99) in times.items()}
    text += ["", "Times of the quiet partner's seats:", "", *bars(chart, "ms", 1)]
    figures = {"timesMs": times, "refused": found.refused, "answered": found.answered}
    return "\n".join(text), figures


def _times_ms(outcomes: list[Outcome]) -> tuple[float, float]:
    """Return the medians of the rounds' p50 and p99, in milliseconds."""
    p50, p99 = (
        median(outcome.times_us.get_value_at_percentile(share) for outcome in outcomes) / 1000
        for share in (50, 99)
    )
    return p50, p99
