"""Measures the processor time of a nudge, and writes its section of docs/benchmarks.md."""

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence

import msgspec
import trio
from nudge_bench.report import bars, cores, paragraph
from nudge_bench.scene import Failed, Timed, Told, core_with, endpoints, host_of, partner_id, tell
from rich.progress import Progress

from pgs.actors.core import Core
from pgs.actors.ports import NudgePort
from pgs.clock import SystemClock
from pgs.demo.certificates import Authority
from pgs.demo.loopback import ADDRESS, loopback_outbound
from pgs.domain.nudges import SIGNATURE_HEADER, nudge_body, signature_header

SECRET = "whsec_" + "A" * 43


class Cpu(msgspec.Struct, frozen=True):
    """The plan of the command `cpu`: how many nudges, and how many at a time."""

    partners: int = 50
    warm_up: int = 200
    counted: int = 2000
    at_once: int = 8


async def measure_cpu(plan: Cpu, progress: Progress) -> dict[str, float]:
    """Return how many milliseconds of processor time each kind of work takes.

    `nudge`: a whole nudge. `try`: one try alone, over a new connection. `connect`: making one
    connection. `kept`: one try alone, over a kept connection. The time of all threads of this
    process is included.
    """
    authority = Authority(SystemClock().now())
    outbound, context = loopback_outbound(authority), authority.client_context()
    timed = Timed(outbound)
    task = progress.add_task("Nudges", total=4 * (plan.warm_up + plan.counted))
    async with (
        endpoints(authority, []) as others,
        core_with(plan.partners, others.port, timed, lambda: None) as (core, urls),
    ):

        async def nudge(index: int) -> None:
            number = index % plan.partners
            told = Told(trio.current_time(), trio.Event())
            timed.told[urls[number]].append(told)
            tell(core, number)
            await told.landed.wait()
            timed.check()

        async def attempt(index: int) -> None:
            said[await _attempt(outbound, core, urls, index)] += 1

        async def connect(index: int) -> None:
            tcp = await trio.open_tcp_stream(ADDRESS, others.port)
            tls = trio.SSLStream(
                tcp, context, server_hostname=host_of(index % plan.partners), https_compatible=True
            )
            await tls.do_handshake()
            await trio.aclose_forcefully(tls)

        async def cost(work: Callable[[int], Awaitable[None]]) -> float:
            await _many(work, plan.warm_up, plan.at_once, lambda: progress.advance(task))
            began = time.process_time()
            await _many(work, plan.counted, plan.at_once, lambda: progress.advance(task))
            return 1000 * (time.process_time() - began) / plan.counted

        said = Counter[str | None]()
        found = {
            "connect": await cost(connect),
            "try": await cost(attempt),
            "nudge": await cost(nudge),
        }
        if set(said) != {"full"}:
            raise Failed(f"not every try had a full handshake: {said}")
        said.clear()
        await others.order("keep")
        found["kept"] = await cost(attempt)
        if set(said) != {"full", "kept"} or said["full"] > plan.partners * plan.at_once:
            raise Failed(f"the connections were not kept: {said}")
        return found


async def _attempt(outbound: NudgePort, core: Core, urls: Sequence[str], index: int) -> str | None:
    """Make one try; return what the endpoint said of its connection."""
    now = core.parts.clock.now()
    body = nudge_body(partner_id(index), now)
    headers = {SIGNATURE_HEADER: signature_header(SECRET, now, body)}
    return (await outbound.post(urls[index % len(urls)], body, headers)).response_body


async def _many(
    work: Callable[[int], Awaitable[None]], count: int, at_once: int, tick: Callable[[], None]
) -> None:
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
        "What does a delivered nudge cost? Measured by `scripts/bench_nudges.py cpu` on "
        f"{cores()}.",
        "",
        *paragraph(
            "The figures are processor time of the service's process, with its writer thread. The "
            "endpoints run in another process. They close each connection after their response, so "
            "every nudge needs a full TLS handshake; the endpoint confirms that no session was "
            "resumed. The handshake "
            "is TLS 1.3 with P-256 keys and a chain of one certificate; longer chains cost more. "
            f"After a warm-up, {plan.counted} of each kind are measured, {plan.at_once} at a time: "
            "connections alone, tries alone, and whole nudges. A whole nudge begins with the "
            "message to the courier, and ends when the response is in the attempt log."
        ),
        "",
        *bars(parts, "ms"),
        "",
        *paragraph(
            f"A whole nudge takes **{cost['nudge']:.2f} ms** of one core. The try takes "
            f"{cost['try']:.2f} ms of that, and its handshake {cost['connect']:.2f} ms. One core "
            f"that does nothing else sends {1000 / cost['nudge']:.0f} nudges a second. If the "
            "endpoints leave their connections open, a try over a kept one takes "
            f"{cost['kept']:.2f} ms."
        ),
    ]
    return "\n".join(lines)
