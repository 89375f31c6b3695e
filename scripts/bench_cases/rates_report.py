"""Writes the section about seats a second."""

from pathlib import Path
from statistics import median
from typing import Any

from bench_cases.rates import CONNECTIONS, LATE, WINDOWS, Run
from bench_cases.report import PRODUCT
from bench_cases.reservations import COLYSEUS
from drawings.bars import bar_chart
from nudge_bench.report import cores, paragraph


def rates_section(
    found: dict[str, list[Run]], missing: str | None, seconds: float, pictures: Path
) -> tuple[str, dict[str, Any]]:
    """Return the text about seats a second and its figures; draw its picture into `pictures`."""
    window_s, late_s = seconds / WINDOWS, seconds / WINDOWS * LATE
    rows = [
        f"| {name} | {median(run.first() for run in runs):,.0f} | "
        f"{median(run.late() for run in runs):,.0f} | {median(run.cpu_us for run in runs):,.0f} |"
        for name, runs in found.items()
    ]
    text = [
        *paragraph(
            "How many seats does a server give out when it is called without pause? Measured by "
            f"`scripts/bench.py rates` on {cores()}, which the caller shares, in "
            f"{len(found[PRODUCT])} rounds. In each round every server takes its turn, with a new "
            f"process and nothing stored. It is warmed up, and then called for {seconds:g} s over "
            f"{CONNECTIONS} connections. The figures are medians of the rounds. *First* is the "
            f"rate of the first {window_s:g} s, *last* that of the last {late_s:g} s. *Processor "
            "time* is that of the server's process for a seat, in the whole run."
        ),
        "",
        *paragraph(
            "Colyseus keeps a room for 15 s, which is its default, if nobody connects to it, and "
            "it filters all rooms for each reservation. So its rate falls until as many rooms end "
            "as begin. In a game whose players do connect, rooms live longer than 15 s. The other "
            "servers keep every seat on disk."
        ),
        "",
        "| Server | first, seats a second | last, seats a second | processor time, µs |",
        "| --- | --- | --- | --- |",
        *rows,
        "",
        "![Seats a second at the end of a run, for each server](benchmarks/rates.svg)",
    ]
    figures: dict[str, Any] = {
        name: {"rates": [run.rates for run in runs], "cpuUs": [run.cpu_us for run in runs]}
        for name, runs in found.items()
    }
    if missing is None:
        pairs = list(zip(found[PRODUCT], found[COLYSEUS], strict=True))
        late = median(ours.late() / theirs.late() for ours, theirs in pairs)
        first = median(ours.first() / theirs.first() for ours, theirs in pairs)
        figures["timesColyseus"] = {"first": first, "last": late}
        more = (
            f"At the end of a run the service stores **{late:.1f}** times as many durable seats a "
            f"second as Colyseus reserves in memory, and at its start **{first:.1f}** times as "
            "many (medians of the rounds' ratios)."
        )
    else:
        more = f"Colyseus is missing in this run: {missing}."
    title = f"Seats a second in the last {late_s:g} s of {seconds:g} s without pause"
    values = {name: median(run.late() for run in runs) for name, runs in found.items()}
    pictures.mkdir(exist_ok=True)
    drawn = bar_chart(title, title, values, "", PRODUCT)
    (pictures / "rates.svg").write_text(drawn, encoding="utf-8")
    return "\n".join([*text, "", *paragraph(more)]), figures
