"""The text about a run, for docs/clusters.md."""

from collections import Counter
from textwrap import fill

from cluster_torture.outages import table
from cluster_torture.run import Run

SHOWN = 20
"""Findings that are printed."""


def told(run: Run, faults: int, seed: int, found: list[str]) -> str:
    """Return a paragraph, what was found, and the table of outages, in Markdown."""
    lines = [
        fill(" ".join(_sentences(run, faults, seed, found)), 100),
        *(f"- {' '.join(wrong.split())[:400]}" for wrong in [*dict.fromkeys(found)][:SHOWN]),
        "",
        table(run.windows, {one.partner_id: one.answers for one in run.backends}),
    ]
    return "\n".join(lines)


def refusals(run: Run) -> dict[str, int]:
    """Return how often backends got each answer, good answers left out."""
    found: Counter[str] = Counter()
    for one in run.backends:
        found.update(one.refusals)
    return dict(found.most_common())


def _sentences(run: Run, faults: int, seed: int, found: list[str]) -> list[str]:
    backends, members = run.backends, run.members
    sentences = [
        f"{faults} faults with seed {seed}: {sum(len(one.seats) for one in backends)} seats and "
        f"{sum(len(one.decided) for one in backends)} decisions were acknowledged, "
        f"{sum(len(one.answers) for one in backends)} calls answered by the proxy and "
        f"{sum(one.asked_directly for one in backends)} by a random node.",
        f"{sum(one.acknowledged for one in members)} prices were set by admins "
        f"({sum(one.repeated for one in members)} of them by repeated calls), and read "
        f"{sum(one.asked_nodes for one in members)} times at the proxy and each node.",
    ]
    if run.players is not None:
        sentences.append(
            f"{len(run.players.matches)} matches were played with {run.players.moves} moves over "
            f"sockets. Open sockets were lost {run.players.drops} times. The service can close an "
            "open socket by mistake: it reads, late, a handshake that the player has already given "
            "up, and takes it for the player's newest socket. This happened "
            f"{run.players.replaced} times."
        )
    if run.claims.answers:
        sentences.append(f"The nodes said {run.claims.answers} times for which shards they answer.")
    if run.settlement is not None and run.settlement.told:
        sentences.append(run.settlement.told)
    sentences.append(f"{len(found)} findings:" if found else "Nothing was lost, doubled or stale.")
    return sentences
