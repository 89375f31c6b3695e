"""The section of docs/benchmarks.md about instructions."""

from typing import Any

from bench_cases.instructions import PARTNERS, Launches
from bench_cases.report import CALL, GROUP, PRODUCT
from nudge_bench.report import bars, paragraph


def instructions_section(
    launches: dict[str, Launches], rounds: int, calls: int
) -> tuple[str, dict[str, Any]]:
    """Return the text about instructions, and its figures."""
    ours = launches[PRODUCT].total()
    ratios = {name: ours / launches[name].total() for name in (GROUP, CALL)}
    text = [
        *paragraph(
            "Processor time differs from run to run on a machine that others use. The number of "
            "instructions hardly does. Counted by `scripts/bench.py instructions`, which runs each "
            f"server under valgrind's callgrind: {rounds} rounds of {calls:,} calls of {PARTNERS} "
            "partners over 32 connections. The figures are medians in thousands of instructions a "
            "call. The kernel's instructions, such as those that write to the disk, are not "
            "counted. *Other threads*: those that write to the database. *trio alone* answers "
            "every request with the same bytes and stores nothing. Colyseus is left out, because "
            "valgrind runs one thread at a time, so that a JIT compiler with threads of its own "
            "works at other moments than it does without valgrind."
        ),
        "",
        "| Server | mint | seat, event loop | seat, other threads | launch |",
        "| --- | --- | --- | --- | --- |",
        *(_row(name, launch) for name, launch in launches.items()),
        "",
        "Instructions of a launch:",
        "",
        *bars({name: launch.total() / 1000 for name, launch in launches.items()}, "thousand", 0),
        "",
        *paragraph(
            f"A launch takes **{ratios[GROUP]:.2f}** times the instructions of FastAPI with a "
            f"commit per group, and **{ratios[CALL]:.2f}** times those with a commit per call."
        ),
    ]
    figures: dict[str, Any] = {
        name: {
            "mint": {"loop": launch.mint.loop, "otherThreads": launch.mint.threads},
            "seat": {"loop": launch.seat.loop, "otherThreads": launch.seat.threads},
        }
        for name, launch in launches.items()
    }
    figures["ratios"] = ratios
    return "\n".join(text), figures


def _row(name: str, launch: Launches) -> str:
    cells = (launch.mint.total(), *launch.seat.parts(), launch.total())
    return f"| {name} | {' | '.join(f'{cell / 1000:,.0f}' for cell in cells)} |"
