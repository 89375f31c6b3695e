"""What nudges cost, and whether endpoints that hang slow the others down. Each command rewrites its section of docs/benchmarks.md.

    .venv/bin/python scripts/bench_nudges.py isolation    500 endpoints, 50 of which hang: about three minutes; ends with 1 on a failure
    .venv/bin/python scripts/bench_nudges.py cpu          processor time of a nudge: about a quarter of a minute

`--quick` runs on a small scale, judges nothing, and writes only where `--out` says. The service's core, with the real courier and the
real way out, is in this process; all endpoints are in another, scripts/nudge_endpoints.py, behind TLS on loopback.
"""

import gc
import logging
import math
import os
import random
import sys
import textwrap
import time
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from statistics import median
from subprocess import PIPE
from tempfile import TemporaryDirectory
from typing import Annotated, TypeVar

import msgspec
import structlog
import trio
import typer
from rich.console import Console
from rich.progress import Progress

from pgs.actors import messages as m
from pgs.actors.core import Core
from pgs.actors.courier import NudgePort
from pgs.app import open_core
from pgs.clock import SystemClock
from pgs.config import Config
from pgs.demo.certificates import Authority
from pgs.demo.loopback import ADDRESS, LoopbackResolver, loopback_outbound
from pgs.domain.nudges import SIGNATURE_HEADER, TryOutcome, nudge_body, signature_header
from pgs.http.outbound.tries import TRY_TIMEOUT_S
from pgs.operator.ready import make_ready
from pgs.serve import SWITCH_INTERVAL_S

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
ENDPOINTS = Path(__file__).with_name("nudge_endpoints.py")
DOMAIN = ".partners.example.com"
LAST_ONES_S = 10.0  # for the nudges of a round that are still under way at its end
AT_MOST = 1.2  # what the hanging endpoints may make of the others' p99
SECRET = "whsec_" + "A" * 43
WIDTH = 140  # characters of a line of the document
BAR = 40  # characters of the longest bar

P = TypeVar("P")
R = TypeVar("R")

app = typer.Typer(add_completion=False, no_args_is_help=True)


class Isolation(msgspec.Struct, frozen=True):
    """How the first command measures. Times in seconds."""

    partners: int = 500
    hanging: int = 50
    rate: float = 100.0  # nudges a second to all of them together: a fifth of what one core can send
    settle_s: float = 5.5  # the first tries of hanging endpoints have ended by then, so that their second ones run beside the others
    measured_s: float = 11.0
    pairs: int = 5


class Cpu(msgspec.Struct, frozen=True):
    """How the second command measures."""

    partners: int = 50
    warm_up: int = 200
    counted: int = 2000
    at_once: int = 8


class Round(msgspec.Struct, frozen=True):
    """Latencies of one round in milliseconds: of how many nudges, and two percentiles. `unanswered`: tries that hung to their end."""

    count: int
    p50: float
    p99: float
    unanswered: int


class Failed(Exception):
    """What was measured is not what the benchmark is about; the message says why."""


class Endpoints:
    """The other process."""

    def __init__(self, process: trio.Process, port: int, lines: AsyncIterator[str]) -> None:
        self.port = port
        self._process = process
        self._lines = lines

    async def order(self, word: str) -> None:
        """Have the chosen endpoints `hang` or `answer`; return once they do."""
        if self._process.stdin is None:
            raise Failed("the endpoints' process takes no orders")
        await self._process.stdin.send_all(f"{word}\n".encode())
        if await anext(self._lines) != "ok":
            raise Failed("the endpoints' process has ended")


class Told(msgspec.Struct, frozen=True):
    """A nudge under way: when it was due, on trio's clock, and the event that its response sets."""

    due: float
    landed: trio.Event


class Timed:
    """The way out, with a clock on it: how long from the moment at which a nudge was due until a response was there.

    `told`: nudges under way, oldest first, by URL. `arrived`: pairs of such a moment and a latency in seconds. Endpoints in `hanging` are
    not timed; `unanswered` counts their tries that came to nothing. `wrong`: what one of the others did that it should not have.
    """

    def __init__(self, outbound: NudgePort) -> None:
        self.told: dict[str, deque[Told]] = defaultdict(deque)
        self.arrived: list[tuple[float, float]] = []
        self.hanging: frozenset[str] = frozenset()
        self.unanswered = 0
        self.wrong: str | None = None
        self._outbound = outbound

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> TryOutcome:
        """Make one try."""
        outcome = await self._outbound.post(url, body, headers)
        if url in self.hanging:
            self.unanswered += outcome.status is None
            return outcome
        if outcome.response_body != "full":
            self.wrong = f"{url} did not answer after a full handshake: {outcome}"
        if self.told[url]:
            told = self.told[url].popleft()
            self.arrived.append((told.due, trio.current_time() - told.due))
            told.landed.set()
        return outcome

    def check(self) -> None:
        """Raise `Failed` when something went wrong."""
        if self.wrong is not None:
            raise Failed(self.wrong)


def host_of(number: int) -> str:
    """Return an endpoint's host name."""
    return f"p{number:04}{DOMAIN}"


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that `share` of all values do not exceed."""
    return sorted(values)[math.ceil(share * len(values)) - 1]


@asynccontextmanager
async def endpoints(authority: Authority, hanging: Sequence[str]) -> AsyncIterator[Endpoints]:
    """Give the endpoints, in their process."""
    issued = authority.issue("*" + DOMAIN)
    setup = {"certificate": issued.certificate.decode(), "key": issued.key.decode(), "hanging": hanging}
    async with trio.open_nursery() as nursery:
        run = partial(trio.run_process, [sys.executable, str(ENDPOINTS)], stdin=PIPE, stdout=PIPE, check=False)
        process: trio.Process = await nursery.start(run)
        lines = _lines(process)
        if process.stdin is not None:
            await process.stdin.send_all(msgspec.json.encode(setup) + b"\n")
        yield Endpoints(process, int(await anext(lines)), lines)
        nursery.cancel_scope.cancel()


async def _lines(process: trio.Process) -> AsyncIterator[str]:
    data = b""
    if process.stdout is not None:
        async for part in process.stdout:
            *whole, data = (data + part).split(b"\n")
            for line in whole:
                yield line.decode()
    raise Failed("the endpoints' process has ended")


@asynccontextmanager
async def core_with(partners: int, port: int, outbound: NudgePort, tick: Callable[[], None]) -> AsyncIterator[tuple[Core, list[str]]]:
    """Give a core with this many partners, an endpoint each, and the endpoints' URLs."""
    with TemporaryDirectory() as folder:
        async with open_core(Config(data_dir=Path(folder) / "data"), outbound=outbound) as core:
            urls = [f"https://{host_of(number)}:{port}/nudges" for number in range(partners)]
            numbers = iter(range(partners))

            async def make() -> None:
                for number in numbers:
                    name = _partner(number)
                    await make_ready(core, name, name, f"admin@{name}.example", games=(), webhooks={"test": urls[number]})
                    tick()

            async with trio.open_nursery() as nursery:
                for _ in range(32):
                    nursery.start_soon(make)
            yield core, urls


def _partner(number: int) -> str:
    return f"bench-{number:04}"


def _tell(core: Core, number: int) -> None:
    if not core.directory.house(_partner(number)).courier("test").tell(m.Nudge("mat_bench")):
        raise Failed("a courier has no room")


# --- whether hanging endpoints slow the others -----------------------------------------------------------------------------------


async def measure_isolation(plan: Isolation, progress: Progress) -> list[tuple[Round, Round]]:
    """Return the rounds in pairs: while all endpoints answer, and while some hang. Raises `Failed`."""
    authority = Authority(SystemClock().now())
    stride = plan.partners // plan.hanging
    hanging = list(range(0, plan.partners, stride))[: plan.hanging]
    timed = Timed(loopback_outbound(authority))
    task = progress.add_task("Partners", total=plan.partners)
    async with (
        endpoints(authority, [host_of(number) for number in hanging]) as others,
        core_with(plan.partners, others.port, timed, lambda: progress.advance(task)) as (core, urls),
    ):
        timed.hanging = frozenset(urls[number] for number in hanging)
        # A full pass of the collector over 500 partners takes 60 ms, in one round or the other by chance: enough to move a p99.
        gc.collect()
        gc.freeze()
        task = progress.add_task("Rounds", total=2 * plan.pairs + 1)
        await _round(core, plan, timed, urls, 0)  # warm-up
        progress.advance(task)
        pairs = []
        for number in range(plan.pairs):
            found = {}
            # The two take turns at being first, so that a machine that gets slower or faster favours neither.
            for hang in (False, True) if number % 2 == 0 else (True, False):
                if hang:
                    await others.order("hang")
                found[hang] = await _round(core, plan, timed, urls, number + 1)
                if (found[hang].unanswered > 0) is not hang and plan.settle_s > TRY_TIMEOUT_S:
                    raise Failed(f"{found[hang].unanswered} tries without an answer")
                await others.order("answer")
                while len(core.parts.deliveries):  # noqa: ASYNC110 - nothing tells of it but at a stop
                    await trio.sleep(0.1)
                progress.advance(task)
            pairs.append((found[False], found[True]))
        return pairs


def schedule(plan: Isolation, seed: int) -> Iterator[tuple[float, int]]:
    """Return when nudges are due, in seconds, and to whom: by chance at a steady rate, as matches of many partners are.

    Evenly spaced ones would never meet, and whatever else the machine does would look like a disaster beside that.
    """
    chance = random.Random(seed)
    after = chance.expovariate(plan.rate)
    while after < plan.settle_s + plan.measured_s:
        yield after, chance.randrange(plan.partners)
        after += chance.expovariate(plan.rate)


async def _round(core: Core, plan: Isolation, timed: Timed, urls: Sequence[str], seed: int) -> Round:
    """Tell nudges at a steady rate; return how long those took that were due after the settling."""
    timed.arrived.clear()
    timed.unanswered = 0
    under_way: list[Told] = []
    began = trio.current_time()
    for after, number in schedule(plan, seed):
        due = began + after
        await trio.sleep_until(due)
        if urls[number] not in timed.hanging:
            under_way.append(Told(due, trio.Event()))
            timed.told[urls[number]].append(under_way[-1])
        _tell(core, number)
    with trio.move_on_after(LAST_ONES_S):
        for told in under_way:
            await told.landed.wait()
    timed.check()
    if any(timed.told.values()):
        raise Failed("nudges to endpoints that answer did not arrive")
    latencies = [1000 * latency for due, latency in timed.arrived if due >= began + plan.settle_s]
    return Round(len(latencies), percentile(latencies, 0.5), percentile(latencies, 0.99), timed.unanswered)


def isolation_section(plan: Isolation, pairs: Sequence[tuple[Round, Round]]) -> tuple[str, bool]:
    """Return the document's section, and whether the hanging endpoints stay within what they may cost."""
    ratios = [hung.p99 / calm.p99 for calm, hung in pairs]
    ratio = median(ratios)
    holds = ratio <= AT_MOST
    calm_p50, hung_p50 = median(calm.p50 for calm, _ in pairs), median(hung.p50 for _, hung in pairs)
    calm_p99, hung_p99 = median(calm.p99 for calm, _ in pairs), median(hung.p99 for _, hung in pairs)
    others = plan.partners - plan.hanging
    lines = [
        f"Does it slow the other {others} endpoints when {plan.hanging} of {plan.partners} hang? "
        f"`scripts/bench_nudges.py isolation`, on {cores()}.",
        "",
        *_paragraph(
            f"{plan.partners} partners, each with an endpoint of its own behind TLS on loopback, are told {plan.rate:g} nudges a "
            f"second at random moments. In the rounds with hanging endpoints {plan.hanging} of them, spread evenly, finish the "
            "handshake, read the call and never answer, so that each of their nudges lasts for three tries of 5 s. A latency runs "
            f"from the moment at which a nudge to one of the other {others} is due until its response is there. Of each round "
            f"{plan.settle_s:g} s settle it and {plan.measured_s:g} s count. The two rounds of a pair have the same nudges at the "
            "same moments, and take turns at being first. What the set-up left in memory is kept from the garbage collector."
        ),
        "",
        "| Pair | nudges | all answer: p50, ms | p99, ms | some hang: p50, ms | p99, ms | tries that hung | p99 with / without |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
        *(
            f"| {number} | {calm.count} | {calm.p50:.2f} | {calm.p99:.2f} | {hung.p50:.2f} | {hung.p99:.2f} | {hung.unanswered} | "
            f"{hung.p99 / calm.p99:.2f} |"
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
        *_paragraph(
            f"One short pair judges nothing; its ratio of p99 is {ratio:.2f}."
            if len(pairs) == 1
            else f"The median of the {len(pairs)} ratios of p99 is **{ratio:.2f}**. It may be {AT_MOST:g} at most: "
            f"{'it is' if holds else 'IT IS NOT'}."
        ),
    ]
    return "\n".join(lines), holds


# --- what a nudge costs ----------------------------------------------------------------------------------------------------------


async def measure_cpu(plan: Cpu, progress: Progress) -> dict[str, float]:
    """Return processor time in milliseconds, threads included: of a whole nudge, of its try alone, of connecting alone."""
    authority = Authority(SystemClock().now())
    outbound, context = loopback_outbound(authority), authority.client_context()
    timed = Timed(outbound)
    task = progress.add_task("Nudges", total=3 * (plan.warm_up + plan.counted))
    async with endpoints(authority, []) as others, core_with(plan.partners, others.port, timed, lambda: None) as (core, urls):

        async def nudge(index: int) -> None:
            number = index % plan.partners
            told = Told(trio.current_time(), trio.Event())
            timed.told[urls[number]].append(told)
            _tell(core, number)
            await told.landed.wait()
            timed.check()

        async def attempt(index: int) -> None:
            now = core.parts.clock.now()
            body = nudge_body(_partner(index), now)
            outcome = await outbound.post(urls[index % plan.partners], body, {SIGNATURE_HEADER: signature_header(SECRET, now, body)})
            if outcome.response_body != "full":
                raise Failed(f"no full handshake: {outcome}")

        async def connect(index: int) -> None:
            tcp = await trio.open_tcp_stream(ADDRESS, others.port)
            tls = trio.SSLStream(tcp, context, server_hostname=host_of(index % plan.partners), https_compatible=True)
            await tls.do_handshake()
            await trio.aclose_forcefully(tls)

        async def cost(work: Callable[[int], Awaitable[None]]) -> float:
            await _many(work, plan.warm_up, plan.at_once, lambda: progress.advance(task))
            began = time.process_time()
            await _many(work, plan.counted, plan.at_once, lambda: progress.advance(task))
            return 1000 * (time.process_time() - began) / plan.counted

        return {"connect": await cost(connect), "try": await cost(attempt), "nudge": await cost(nudge)}


async def _many(work: Callable[[int], Awaitable[None]], count: int, at_once: int, tick: Callable[[], None]) -> None:
    numbers = iter(range(count))

    async def one_by_one() -> None:
        for number in numbers:
            await work(number)
            tick()

    async with trio.open_nursery() as nursery:
        for _ in range(at_once):
            nursery.start_soon(one_by_one)


def cpu_section(plan: Cpu, cost: Mapping[str, float]) -> str:
    """Return the document's section."""
    parts = {
        "TCP and TLS handshake": cost["connect"],
        "address check, request, response": cost["try"] - cost["connect"],
        "courier, signature, attempt log": cost["nudge"] - cost["try"],
    }
    lines = [
        f"What does a delivered nudge cost? `scripts/bench_nudges.py cpu`, on {cores()}.",
        "",
        *_paragraph(
            "Processor time of the service's process, its writer thread included; the endpoints are in another process. Every nudge "
            "makes a connection of its own with a full TLS handshake (the endpoint says that none was resumed): TLS 1.3, P-256 "
            f"keys, a chain of one certificate. Longer chains cost more. {plan.counted} of each after a warm-up, {plan.at_once} at a "
            "time: connections alone, tries alone, and whole nudges from the message to the courier until the response, attempt log "
            "included."
        ),
        "",
        *bars(parts, "ms"),
        "",
        *_paragraph(
            f"A whole nudge takes **{cost['nudge']:.2f} ms** of one core; the try alone takes {cost['try']:.2f} ms of that, and in "
            f"it the handshake {cost['connect']:.2f} ms. One core that does nothing else sends {1000 / cost['nudge']:.0f} nudges a "
            "second."
        ),
    ]
    return "\n".join(lines)


# --- the document ----------------------------------------------------------------------------------------------------------------


def cores() -> str:
    """Return how many cores this process may use, in words."""
    count = os.cpu_count() or 1
    return f"{count} core{'' if count == 1 else 's'}"


def _paragraph(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, break_on_hyphens=False)


def bars(values: Mapping[str, float], unit: str) -> list[str]:
    """Return a chart as lines of a code block."""
    longest, widest = max(values.values()), max(len(name) for name in values)
    drawn = [f"{name:<{widest}}  {'█' * max(1, round(BAR * value / longest)):<{BAR}}  {value:.2f} {unit}" for name, value in values.items()]
    return ["```text", *drawn, "```"]


def write_section(document: Path, title: str, section: str) -> None:
    """Replace the section of a Markdown document below a title, or add it at the end; everything else stays."""
    text = document.read_text(encoding="utf-8") if document.exists() else "# Benchmarks\n"
    before, found, after = text.partition(f"\n## {title}\n")
    rest = "\n## ".join(["", *after.split("\n## ")[1:]]) if found else ""
    document.write_text(f"{before.rstrip()}\n\n## {title}\n\n{section}\n{rest}".rstrip() + "\n", encoding="utf-8")


# --- the commands ----------------------------------------------------------------------------------------------------------------

Quick = Annotated[bool, typer.Option(help="A few seconds on a small scale, to see that it works.")]
Out = Annotated[Path | None, typer.Option(metavar="FILE", help=f"The document to write into; without --quick docs/{DOCUMENT.name}.")]


@app.command()
def isolation(quick: Quick = False, out: Out = None) -> None:
    """Measure whether endpoints that hang slow the others down."""
    plan = Isolation(partners=20, hanging=2, rate=40, settle_s=0.5, measured_s=1, pairs=1) if quick else Isolation()
    pairs = _measured(measure_isolation, plan)
    section, holds = isolation_section(plan, pairs)
    _report("Endpoints that hang", section, quick, out)
    if not holds and not quick:
        raise typer.Exit(1)


@app.command()
def cpu(quick: Quick = False, out: Out = None) -> None:
    """Measure the processor time of a nudge."""
    plan = Cpu(partners=8, warm_up=8, counted=40) if quick else Cpu()
    _report("The cost of a nudge", cpu_section(plan, _measured(measure_cpu, plan)), quick, out)


def _measured(measure: Callable[[P, Progress], Awaitable[R]], plan: P) -> R:
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING), logger_factory=lambda *_: structlog.PrintLogger(sys.stderr)
    )
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    console = Console(stderr=True)

    async def main() -> R:
        trio.socket.set_custom_hostname_resolver(LoopbackResolver(DOMAIN))
        return await measure(plan, progress)

    with Progress(console=console, disable=not console.is_terminal) as progress:
        try:
            return trio.run(main)
        except* Failed as failed:
            console.print(str(_first(failed)))
    raise typer.Exit(1)


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _report(title: str, section: str, quick: bool, out: Path | None) -> None:
    print(f"## {title}\n\n{section}")
    document = out or (None if quick else DOCUMENT)
    if document is not None:
        write_section(document, title, section)


if __name__ == "__main__":
    app()
