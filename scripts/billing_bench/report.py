"""The sections of docs/benchmarks.md about billing."""

from collections.abc import Mapping, Sequence

import msgspec
from billing_bench.calls import PATHS
from nudge_bench.report import bars, cores, paragraph, percentile

QUERIES = tuple(PATHS)
GROWTH_MAX = 1.5  # the largest growth of a call's median, from the shortest history to the longest
MEMORY_MAX_MB = 20.0


class Section(msgspec.Struct, frozen=True):
    """A section of the document. `holds`: no limit is exceeded."""

    title: str
    text: str
    holds: bool


def queries_section(
    medians_ms: Mapping[str, Mapping[int, float]], seats_a_day: int, rounds: int
) -> Section:
    """Return the section about calls for one day.

    `medians_ms`: by query, then by the number of seats in the history.
    """
    sizes = list(next(iter(medians_ms.values())))
    lines = [
        *paragraph(
            "Does a call for one day take longer when there is more history? Measured by "
            f"`scripts/measure_billing.py` on {cores()}."
        ),
        "",
        *paragraph(
            f"Each partner has a history of its own, with {seats_a_day} seats on each day, and "
            "asks over HTTP for its last day. The partners take turns, so that whatever else the "
            f"machine does affects all of them. Medians of {rounds} calls, in milliseconds."
        ),
        "",
        f"| Call | {' | '.join(f'{size:,} seats' for size in sizes)} | last / first |",
        f"| --- | {' | '.join('---' for _ in sizes)} | --- |",
    ]
    growths = []
    for query, by_size in medians_ms.items():
        growths.append(by_size[sizes[-1]] / by_size[sizes[0]])
        cells = [query, *(f"{by_size[size]:.2f}" for size in sizes), f"{growths[-1]:.2f}"]
        lines.append(f"| {' | '.join(cells)} |")
    drawn = {
        f"{query}, {size:,} seats": by_size[size]
        for query, by_size in medians_ms.items()
        for size in sizes
    }
    holds = max(growths) <= GROWTH_MAX
    lines += ["", *bars(drawn, "ms"), ""]
    lines += paragraph(
        f"The greatest growth is {max(growths):.2f}. The limit is {GROWTH_MAX:g}: it "
        f"{'holds' if holds else 'is **exceeded**'}. Usage and summary read one row for each day, "
        "game and tier; the digest reads the rows of its day through an index."
    )
    return Section("Calls for one day", "\n".join(lines), holds)


def month_section(
    matches: int,
    total_usd_cents: int,
    lines_of_invoice: int,
    seconds: float,
    memory_mb: float,
    quiet: Sequence[float],
    busy: Sequence[float],
) -> Section:
    """Return the section about assembling a month while launches go on.

    `quiet` and `busy`: seconds that launches took without and during the assembly.
    """
    holds = memory_mb <= MEMORY_MAX_MB
    lines = [
        *paragraph(
            "How long does a month take to become an invoice, and how long do launches take "
            f"meanwhile? Measured by `scripts/measure_billing.py` on {cores()}."
        ),
        "",
        *paragraph(
            f"A month of {matches:,} matches became an invoice of {lines_of_invoice} lines over "
            f"{total_usd_cents / 100:,.2f} USD in {seconds * 1000:.0f} ms, and took "
            f"{max(0.0, memory_mb):.1f} MB of memory. "
            "Meanwhile the same partner continued to launch matches."
        ),
        "",
        *bars(
            {
                "launch before, p50": percentile(quiet, 0.5) * 1000,
                "launch meanwhile, p50": percentile(busy, 0.5) * 1000,
                "launch before, p99": percentile(quiet, 0.99) * 1000,
                "launch meanwhile, p99": percentile(busy, 0.99) * 1000,
            },
            "ms",
        ),
        "",
        *paragraph(
            f"The limit for memory is {MEMORY_MAX_MB:g} MB: it "
            f"{'holds' if holds else 'is **exceeded**'}. An invoice is assembled from the totals "
            "of its days and not from its matches."
        ),
    ]
    return Section("A month becomes an invoice", "\n".join(lines), holds)
