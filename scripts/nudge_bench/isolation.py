"""Measures whether endpoints that hang slow the others down, in rounds with and without them."""

import random
import time
from collections.abc import Iterator, Sequence
from statistics import median

import msgspec
import trio
from nudge_bench.report import bars, cores, paragraph, percentile
from nudge_bench.scene import Failed, Timed, Told, core_with, endpoints, host_of, tell
from rich.progress import Progress

from pgs.actors.core import Core
from pgs.clock import SystemClock
from pgs.demo.certificates import Authority
from pgs.demo.loopback import loopback_outbound
from pgs.http.outbound.tries import TRY_TIMEOUT_S
from pgs.process import tune_garbage_collector

LAST_ONES_S = 10.0  # seconds for the nudges that are still in flight at the end of a round
AT_MOST = 1.2  # limit: p99 of the others with hanging endpoints, divided by their p99 without


class Isolation(msgspec.Struct, frozen=True):
    """The plan of the command `isolation`. Times in seconds."""

    partners: int = 500
    hanging: int = 50
    # Nudges a second to all endpoints together: a fifth of what one core can send.
    rate: float = 100.0
    # After this time the first tries to hanging endpoints have ended, and the second tries run.
    settle_s: float = 5.5
    measured_s: float = 16.0
    pairs: int = 5


class Round(msgspec.Struct, frozen=True):
    """The result of one round: the number of nudges, and percentiles of their latency in ms.

    `unanswered`: tries that got no response. `load`: processor seconds of this process in each
    measured second.
    """

    count: int
    p50: float
    p99: float
    unanswered: int
    load: float


async def measure_isolation(plan: Isolation, progress: Progress) -> list[tuple[Round, Round]]:
    """Return the rounds in pairs: all endpoints answer in the first, some hang in the second.

    Raises `Failed`.
    """
    authority = Authority(SystemClock().now())
    stride = plan.partners // plan.hanging
    hanging = list(range(0, plan.partners, stride))[: plan.hanging]
    timed = Timed(loopback_outbound(authority))
    task = progress.add_task("Partners", total=plan.partners)
    async with (
        endpoints(authority, [host_of(number) for number in hanging]) as others,
        core_with(plan.partners, others.port, timed, lambda: progress.advance(task)) as (
            core,
            urls,
        ),
    ):
        timed.hanging = frozenset(urls[number] for number in hanging)
        # As `pgs serve` does. A full garbage collection over 500 partners took 60 ms, enough to
        # change the p99 of the round in which it happened to run.
        tune_garbage_collector()
        task = progress.add_task("Rounds", total=2 * plan.pairs + 1)
        await _round(core, plan, timed, urls, 0)  # warm-up
        progress.advance(task)
        pairs = []
        for number in range(plan.pairs):
            found = {}
            # The two kinds of round take turns at being first, so that a machine that becomes
            # slower or faster favours neither.
            for hang in (False, True) if number % 2 == 0 else (True, False):
                if hang:
                    await others.order("hang")
                found[hang] = await _round(core, plan, timed, urls, number + 1)
                if (found[hang].unanswered > 0) is not hang and plan.settle_s > TRY_TIMEOUT_S:
                    raise Failed(f"{found[hang].unanswered} tries without an answer")
                await others.order("answer")
                # Polled: there is an event for the end of the last delivery only while the service
                # is stopping.
                while len(core.parts.deliveries):  # noqa: ASYNC110
                    await trio.sleep(0.1)
                progress.advance(task)
            pairs.append((found[False], found[True]))
        return pairs


def schedule(plan: Isolation, seed: int) -> Iterator[tuple[float, int]]:
    """Yield when a nudge is due, in seconds, and the number of its partner.

    The moments are random at a steady rate (a Poisson process), as for the matches of many
    partners. Evenly spaced nudges would never overlap, which is not realistic.
    """
    chance = random.Random(seed)
    after = chance.expovariate(plan.rate)
    while after < plan.settle_s + plan.measured_s:
        yield after, chance.randrange(plan.partners)
        after += chance.expovariate(plan.rate)


async def _round(
    core: Core, plan: Isolation, timed: Timed, urls: Sequence[str], seed: int
) -> Round:
    """Send nudges at a steady rate; return the latencies of those due after `settle_s`."""
    timed.arrived.clear()
    timed.unanswered = 0
    under_way: list[Told] = []
    began = trio.current_time()
    busy_s: float | None = None
    for after, number in schedule(plan, seed):
        due = began + after
        await trio.sleep_until(due)
        if busy_s is None and after >= plan.settle_s:
            busy_s = -time.process_time()
        if urls[number] not in timed.hanging:
            under_way.append(Told(due, trio.Event()))
            timed.told[urls[number]].append(under_way[-1])
        tell(core, number)
    busy_s = (busy_s or 0.0) + time.process_time()
    with trio.move_on_after(LAST_ONES_S):
        for told in under_way:
            await told.landed.wait()
    timed.check()
    if any(timed.told.values()):
        raise Failed("nudges to endpoints that answer did not arrive")
    latencies = [1000 * latency for due, latency in timed.arrived if due >= began + plan.settle_s]
    return Round(
        len(latencies),
        percentile(latencies, 0.5),
        percentile(latencies, 0.99),
        timed.unanswered,
        busy_s / plan.measured_s,
    )


def isolation_section(plan: Isolation, pairs: Sequence[tuple[Round, Round]]) -> tuple[str, bool]:
    """Return the document's section, and whether the limit of the p99 holds."""
    ratios = [hung.p99 / calm.p99 for calm, hung in pairs]
    ratio = median(ratios)
    holds = ratio <= AT_MOST
    calm_p50, hung_p50 = (
        median(calm.p50 for calm, _ in pairs),
        median(hung.p50 for _, hung in pairs),
    )
    calm_p99, hung_p99 = (
        median(calm.p99 for calm, _ in pairs),
        median(hung.p99 for _, hung in pairs),
    )
    calm_load, hung_load = (
        median(calm.load for calm, _ in pairs),
        median(hung.load for _, hung in pairs),
    )
    lines = [
        *_introduction(plan),
        "",
        "| Pair | nudges | all answer: p50, ms | p99, ms | some hang: p50, ms | p99, ms "
        "| tries that hung | p99 with / without |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
        *(
            f"| {number} | {calm.count} | {calm.p50:.2f} | {calm.p99:.2f} | {hung.p50:.2f} "
            f"| {hung.p99:.2f} | {hung.unanswered} | {hung.p99 / calm.p99:.2f} |"
            for number, (calm, hung) in enumerate(pairs, start=1)
        ),
        "",
        "Medians of the rounds:",
        "",
        *bars(
            {
                "p50, all answer": calm_p50,
                f"p50, {plan.hanging} hang": hung_p50,
                "p99, all answer": calm_p99,
                f"p99, {plan.hanging} hang": hung_p99,
            },
            "ms",
        ),
        "",
        *paragraph(
            f"The service used {1000 * calm_load:.0f} ms of processor time a second while all "
            f"endpoints answered, and {1000 * hung_load:.0f} ms while {plan.hanging} hung "
            "(medians), because a nudge to an endpoint that hangs takes three tries instead of one."
        ),
        "",
        *paragraph(
            f"One short pair of rounds proves nothing. Its ratio of p99 is {ratio:.2f}."
            if len(pairs) == 1
            else f"The median of the {len(pairs)} ratios of p99 is **{ratio:.2f}**. The limit is "
            f"{AT_MOST:g}: it {'holds' if holds else 'IS EXCEEDED'}."
        ),
    ]
    return "\n".join(lines), holds


def _introduction(plan: Isolation) -> list[str]:
    others = plan.partners - plan.hanging
    return [
        *paragraph(
            f"If {plan.hanging} of {plan.partners} endpoints hang, do nudges to the other {others} "
            f"take longer? Measured by `scripts/bench_nudges.py isolation` on {cores()}."
        ),
        "",
        *paragraph(
            f"Each of {plan.partners} partners has its own endpoint behind TLS on loopback. "
            f"Together the endpoints receive {plan.rate:g} nudges a second, at random moments. In "
            f"the rounds with hanging endpoints, {plan.hanging} of them, spread evenly, finish the "
            "handshake, read the call and never answer, so that each of their nudges takes three "
            f"tries of 5 s. Latency is measured for nudges to the other {others}: from the moment "
            "when a nudge is due until its response has arrived. The first "
            f"{plan.settle_s:g} s of a round are not counted; the next {plan.measured_s:g} s are. "
            "Both rounds of a pair have the same nudges at the same moments; the round with "
            "hanging endpoints is first in every second pair. Objects from the set-up are kept out "
            "of the garbage collector."
        ),
    ]
