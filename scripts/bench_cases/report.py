"""The sections of docs/benchmarks.md that scripts/bench.py writes, their pictures, and JSON."""

from pathlib import Path
from statistics import median
from typing import Any

from bench_cases.feed import Costs as FeedCosts
from bench_cases.launch import Costs, ratio
from bench_cases.waits import BURST, Waits
from drawings.bars import bar_chart
from nudge_bench.report import cores, paragraph

PRODUCT = "pgs"
GROUP, CALL = "FastAPI, a commit per group", "FastAPI, a commit per call"


_SERVERS = (
    "*FastAPI* is `scripts/bench_cases/fastapi_peer.py`, on uvicorn with uvloop and "
    "httptools. It serves the same two calls: it signs a session token, and it syncs each "
    "seat to disk before it answers. It has no feed, no ledger, no webhooks and no "
    "settlement. *trio alone* answers every request with the same bytes and stores "
    "nothing. *Colyseus* reserves seats in memory, and has no separate mint. It has a new "
    "process in each round. Before it is measured, it answers as many calls as are measured "
    "later, to warm up. Then their rooms are ended, because it filters all rooms for each "
    "reservation. The [next section](#seats-a-second) says what that means for its rate."
)


def launch_section(
    costs: dict[str, Costs], missing: str | None, calls: int, pictures: Path
) -> tuple[str, dict[str, Any]]:
    """Return the text about launches and its figures; draw its picture into `pictures`."""
    rows = [
        f"| {name} | {median(cost.mint):.0f} | {median(cost.seat):.0f} | "
        f"{median(cost.launch()):.0f} |"
        for name, cost in costs.items()
    ]
    ours = costs[PRODUCT]
    ratios = {name: ratio(ours, costs[name]) for name in (GROUP, CALL)}
    rounds = len(ours.mint)
    text = [
        *paragraph(
            f"What does a launch cost, compared with what a team would write instead? Measured by "
            f"`scripts/bench.py launch` on {cores()}, in {rounds} rounds of {calls:,} calls. "
            "In each round every server takes its turn, and the order rotates by one. The figures "
            "are medians of the processor time of the server's process, threads included, in "
            "microseconds. All calls come from one thread over 32 connections."
        ),
        "",
        *paragraph(_SERVERS),
        "",
        "| Server | mint | seat | launch |",
        "| --- | --- | --- | --- |",
        *rows,
        "",
        "![Processor time of a launch, for each server](benchmarks/launch.svg)",
        "",
        *paragraph(
            f"A launch takes **{ratios[GROUP]:.2f}** times the processor time of FastAPI with "
            f"a commit per group, and **{ratios[CALL]:.2f}** times that with a commit per call "
            "(medians of the rounds' ratios)."
        ),
    ]
    figures: dict[str, Any] = {
        name: {"mintUs": cost.mint, "seatUs": cost.seat} for name, cost in costs.items()
    }
    figures["ratios"] = ratios
    if missing is not None:
        text += ["", *paragraph(f"Colyseus is missing in this run: {missing}.")]
    chart = {name: median(cost.launch()) for name, cost in costs.items()}
    _draw(
        pictures / "launch.svg",
        "Processor time of a launch (mint and seat; Colyseus: one reservation)",
        chart,
    )
    return "\n".join(text), figures


def feed_section(costs: FeedCosts) -> tuple[str, dict[str, Any]]:
    """Return the text about pages of the feed, and its figures."""
    first, again = median(costs.first), median(costs.again)
    rows = [
        f"| {name} | {number:,} | {each:.0f} | {1e6 / each:,.0f} |"
        for name, number, each in (
            ("read for the first time", costs.pages[0], first),
            ("read again and again", costs.pages[1], again),
        )
    ]
    text = [
        *paragraph(
            "How many pages of the feed does a core serve? Measured by `scripts/bench.py feed` on "
            f"{cores()}, in {len(costs.first)} rounds. A page has 100 rows and "
            f"{costs.page_bytes:,} bytes. The service starts anew in each round. Most backends "
            "read each row once, so the first row of the table is the usual case. Rows that were "
            "read twice stay in the service's memory for a while. The figures are medians of the "
            "rounds: processor time of the process, and what one core serves in a second."
        ),
        "",
        "| Page | pages in a round | processor time, µs | pages a second and core |",
        "| --- | --- | --- | --- |",
        *rows,
    ]
    return "\n".join(text), {
        "firstUs": costs.first,
        "againUs": costs.again,
        "pageBytes": costs.page_bytes,
    }


def waits_section(found: Waits, calls: int, pictures: Path) -> tuple[str, dict[str, Any]]:
    """Return the text about the time that seats take, and its figures; draw its picture."""
    shares = {f"p{share:g}": found.half_us(share) for share in (50, 90, 99, 99.9)}
    each = [one.times_us.get_value_at_percentile(99) for one in found.half]
    bursts = [second * 1000 for second in found.bursts_s]
    text = [
        *paragraph(
            f"How long does a caller wait for a seat? Measured by `scripts/bench.py waits` on "
            f"{cores()}, which the caller shares. The caller takes {calls:,} seats of 200 "
            f"partners as fast as the service answers. The next {calls:,} are due at even "
            "intervals at half of that rate; the time of a seat begins when it is due. Both are "
            f"done {len(found.half)} times in turn. The figures are medians of these runs; the "
            f"highest rate is {median(found.highest):,.0f} seats a second."
        ),
        "",
        "![Times of a seat at half the highest rate](benchmarks/waits.svg)",
        "",
        *paragraph(
            f"At half the highest rate p99 is **{shares['p99'] / 1000:.1f} ms** (the runs: "
            f"{min(each) / 1000:.1f} to {max(each) / 1000:.1f} ms). A burst of "
            f"{BURST} seats of one partner over {BURST} connections has its last answer after "
            f"**{median(bursts):.0f} ms** (median of {len(bursts)} bursts; the longest "
            f"{max(bursts):.0f} ms)."
        ),
    ]
    _draw(pictures / "waits.svg", "Time of a seat at half the highest rate", shares)
    figures = {
        "highest": found.highest,
        "halfUs": shares,
        "halfP99Us": each,
        "burstsMs": bursts,
    }
    return "\n".join(text), figures


def _draw(path: Path, title: str, values: dict[str, float]) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(bar_chart(title, title, values, "µs", PRODUCT), encoding="utf-8")
