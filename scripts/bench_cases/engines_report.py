"""The section of docs/benchmarks.md about engines and nodes."""

from statistics import median
from typing import Any

from bench_cases.engines import POSTGRES, SQLITE, Cost, ratio
from bench_cases.installations import ANYWHERE, OWNER, case_name
from nudge_bench.report import cores, paragraph

LIMIT = 1.5
"""A seat with PostgreSQL may cost at most this many times the processor time with SQLite."""

ONE = case_name(1, OWNER)


def engines_section(costs: dict[str, Cost], calls: int) -> tuple[str, dict[str, Any]]:
    """Return the text about engines and nodes, and its figures."""
    rounds = len(costs[SQLITE].service)
    times = ratio(costs[POSTGRES], costs[SQLITE])
    text = [
        *paragraph(
            "What does a seat cost with PostgreSQL, and on several nodes? Measured by "
            f"`scripts/bench.py engines` on {cores()}, in {rounds} rounds of {calls:,} seats. In "
            "each round every case takes its turn, and the order rotates by one. The figures are "
            "medians of the processor time in microseconds: of the service's processes, all nodes "
            "together, and separately of PostgreSQL's processes. PostgreSQL has no standby here. "
            "The seats are taken at one node after the other, over 32 connections. *At the owner*: "
            "the calls arrive as from a proxy that has learned the owners. *At any node*: they "
            "arrive as from a proxy that never learns them, so two nodes forward half of the "
            "calls, and three nodes two thirds. *Without calls*: the milliseconds of processor "
            "time that all nodes together use in a second in which nobody calls."
        ),
        "",
        "| Case | service | PostgreSQL | seats a second at one node | without calls, ms a second |",
        "| --- | --- | --- | --- | --- |",
        *(
            f"| {name} | {median(cost.service):.0f} | "
            f"{f'{median(cost.database):.0f}' if name != SQLITE else '–'} | "
            f"{median(cost.seats_a_second):,.0f} | {cost.idle:.0f} |"
            for name, cost in costs.items()
        ),
        "",
        *paragraph(
            f"With PostgreSQL a seat takes **{times:.2f}** times as much of the service's "
            "processor time as with SQLite, because SQLite works in the service's own process. "
            "The figure is the median of the rounds' ratios, not the ratio of the table's medians. "
            f"The limit is {LIMIT}: the figure "
            f"{'is within it' if times <= LIMIT else 'exceeds it'}."
        ),
        "",
        *paragraph(_of_nodes(costs)),
    ]
    figures: dict[str, Any] = {
        name: {
            "serviceUs": cost.service,
            "postgresUs": cost.database,
            "seatsASecond": cost.seats_a_second,
            "idleMs": cost.idle,
        }
        for name, cost in costs.items()
    }
    return "\n".join(text), figures | {"timesSqlite": times}


def capacity(of: Cost, one: Cost) -> float:
    """Return the capacity of several nodes as a multiple of one node's, by processor time alone."""
    return median(of.nodes * a / b for a, b in zip(one.service, of.service, strict=True))


def _of_nodes(costs: dict[str, Cost]) -> str:
    told = [
        f"{cost.nodes} nodes take {capacity(cost, costs[ONE]):.2f} times the seats of one if calls "
        f"arrive {where}"
        for where in (OWNER, ANYWHERE)
        for nodes in (2, 3)
        if (cost := costs.get(case_name(nodes, where))) is not None
    ]
    return (
        "Here one node works at a time. Computed from the service's "
        f"processor time alone: {'; '.join(told)}. That holds for as long as the database has the "
        "processor time that the table shows for each seat. `scripts/bench.py nodes` measures "
        "nodes that work at the same time."
    )
