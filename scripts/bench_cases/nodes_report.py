"""The section of docs/benchmarks.md about the seats a second of several nodes together."""

from pathlib import Path
from statistics import median
from typing import Any

from bench_cases.core_shares import PERIOD_US
from bench_cases.installations import OWNER, case_name
from bench_cases.nodes import CONNECTIONS, SHARE, Seen, times_of_one
from drawings.bars import bar_chart
from nudge_bench.report import cores, paragraph

GOAL = 1.8
"""The goal: two nodes take at least this many times the seats of one, if each call arrives at the
node that owns its partner."""

SHARE_LEAST, MACHINE_MOST = 0.9, 0.9
"""If nodes use less of their shares, or the machine more of its cores, then something other than
the nodes' processor time limits the seats."""

ONE = case_name(1, OWNER)
TITLE_OF_PICTURE = "Seats a second of nodes that are held to the same share of a core"


def nodes_section(
    seen: dict[str, Seen], partners: int, seconds: float, pictures: Path
) -> tuple[str, dict[str, Any]]:
    """Return the text about nodes together, and its figures; draw its picture into `pictures`."""
    times = {name: times_of_one(of, seen[ONE]) for name, of in seen.items()}
    two = times[case_name(2, OWNER)]
    text = [
        *_how(partners, len(seen[ONE].share), seconds),
        "",
        "| Case | seats a second | times one node | share used | PostgreSQL, cores | caller, cores "
        "| machine in use |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *(
            f"| {name} | {median(of.seats_a_second):,.0f} | {times[name]:.2f} | "
            f"{median(of.share):.0%} | {median(of.database):.2f} | {median(of.caller):.2f} | "
            f"{median(of.machine):.0%} |"
            for name, of in seen.items()
        ),
        "",
        "![Seats a second of nodes together](benchmarks/nodes.svg)",
        "",
        *paragraph(
            f"Two nodes take **{two:.2f}** times the seats of one if calls arrive at the owner. "
            f"The goal is {GOAL}: it is {'reached' if two >= GOAL else 'missed'}. "
            + " ".join(_limits(seen))
        ),
    ]
    pictures.mkdir(parents=True, exist_ok=True)
    values = {name: median(of.seats_a_second) for name, of in seen.items()}
    (pictures / "nodes.svg").write_text(
        bar_chart(TITLE_OF_PICTURE, TITLE_OF_PICTURE, values, "seats/s", ONE), encoding="utf-8"
    )
    return "\n".join(text), {name: _figures(of, times[name]) for name, of in seen.items()}


def _how(partners: int, rounds: int, seconds: float) -> list[str]:
    """Return what is measured, and how."""
    return [
        *paragraph(
            "How many seats a second do several nodes take together? Measured by `scripts/bench.py "
            f"nodes` on {cores()}, in {rounds} rounds of {seconds:g} s for each case. The machine "
            "cannot hold three busy nodes, their caller and the database, so each node is held to "
            f"**{SHARE:.0%} of one core** by a control group with a period of "
            f"{PERIOD_US // 1000} ms. A node with a core of its own takes more seats; this section "
            "is about the ratios. In each round every case takes its turn, and the order rotates "
            "by one."
        ),
        "",
        *paragraph(
            f"All nodes of a case are called at once, over {CONNECTIONS} connections each. There "
            f"are {partners} partners. *At the owner*: each node is asked for seats of its own "
            "partners, as behind a proxy that has learned the owners. *At any node*: each is asked "
            "for seats of all partners. PostgreSQL has no standby here. The figures are medians of "
            "the rounds. The ratio is the median of the rounds' ratios, so it may differ from the "
            "ratio of two figures. *Machine in use* is the part of all cores that was in use, by "
            "other work too."
        ),
    ]


def _figures(of: Seen, times: float) -> dict[str, Any]:
    return {
        "seatsASecond": of.seats_a_second,
        "timesOne": times,
        "shareUsed": of.share,
        "periodsWaited": of.waited,
        "databaseCores": of.database,
        "callerCores": of.caller,
        "machineInUse": of.machine,
    }


def _limits(seen: dict[str, Seen]) -> list[str]:
    """Return sentences about what limited the seats."""
    spared = [name for name, of in seen.items() if median(of.share) < SHARE_LEAST]
    full = [name for name, of in seen.items() if median(of.machine) > MACHINE_MOST]
    if not spared and not full:
        return [
            "In every case the nodes used their shares, and the machine had time left: neither the "
            "database nor the caller limited the seats."
        ]
    told = []
    if spared:
        told.append(
            f"The nodes used less than {SHARE_LEAST:.0%} of their shares in these cases, so "
            f"something else limited the seats there: {'; '.join(spared)}."
        )
    if full:
        told.append(
            f"More than {MACHINE_MOST:.0%} of the machine was in use in these cases, so measure "
            f"them again with less other work, or on more cores: {'; '.join(full)}."
        )
    return told
