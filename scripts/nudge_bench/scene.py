"""The set-up of the nudge benchmarks: a core with partners, and endpoints in another process."""

import sys
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from subprocess import PIPE
from tempfile import TemporaryDirectory

import msgspec
import trio

from pgs.actors.core import Core
from pgs.actors.messages import courier as m
from pgs.actors.ports import NudgePort
from pgs.app import open_core
from pgs.config import Config
from pgs.demo.certificates import Authority
from pgs.domain.nudges import TryOutcome
from pgs.operator.ready_partners import make_ready

DOMAIN = ".partners.example.com"
_PROGRAM = Path(__file__).resolve().parent.parent / "nudge_endpoints.py"


class Failed(Exception):
    """The measurement is not valid; the message says why."""


class Endpoints:
    """The process of the endpoints."""

    def __init__(self, process: trio.Process, port: int, lines: AsyncIterator[str]) -> None:
        self.port = port
        self._process = process
        self._lines = lines

    async def order(self, word: str) -> None:
        """Give the endpoints an order, and return when it has been carried out.

        `hang` and `answer` are for the endpoints that can hang. `keep` is for all endpoints: they
        leave connections open.
        """
        if self._process.stdin is None:
            raise Failed("the endpoints' process has no standard input")
        await self._process.stdin.send_all(f"{word}\n".encode())
        if await anext(self._lines) != "ok":
            raise Failed("the endpoints' process has ended")


class Told(msgspec.Struct, frozen=True):
    """A nudge in flight: when it was due, on trio's clock, and the event that its response sets."""

    due: float
    landed: trio.Event


class Timed:
    """The outbound client with timing: from the moment a nudge is due until its response.

    `told`: nudges in flight by URL, oldest first. `arrived`: pairs of a due moment and a latency,
    in seconds. Endpoints in `hanging` are not timed; `unanswered` counts their tries without a
    response. `wrong`: the error of another endpoint, or None.
    """

    def __init__(self, outbound: NudgePort) -> None:
        self.told: dict[str, deque[Told]] = defaultdict(deque)
        self.arrived: list[tuple[float, float]] = []
        self.hanging: frozenset[str] = frozenset()
        self.unanswered = 0
        self.wrong: str | None = None
        self._outbound = outbound

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> TryOutcome:
        """Make one try, and time it."""
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

    def close_idle(self) -> None:
        """Close the client's connections that no try has used for a while."""
        self._outbound.close_idle()

    def close(self) -> None:
        """Close the client's connections."""
        self._outbound.close()

    def check(self) -> None:
        """Raise `Failed` if an endpoint that should answer has failed."""
        if self.wrong is not None:
            raise Failed(self.wrong)


def host_of(number: int) -> str:
    """Return an endpoint's host name."""
    return f"p{number:04}{DOMAIN}"


@asynccontextmanager
async def endpoints(authority: Authority, hanging: Sequence[str]) -> AsyncIterator[Endpoints]:
    """Yield the endpoints, in their own process."""
    issued = authority.issue("*" + DOMAIN)
    setup = {
        "certificate": issued.certificate.decode(),
        "key": issued.key.decode(),
        "hanging": hanging,
    }
    async with trio.open_nursery() as nursery:
        run = partial(
            trio.run_process, [sys.executable, str(_PROGRAM)], stdin=PIPE, stdout=PIPE, check=False
        )
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
async def core_with(
    partners: int, port: int, outbound: NudgePort, tick: Callable[[], None]
) -> AsyncIterator[tuple[Core, list[str]]]:
    """Yield a core with this many partners, and the URLs of their endpoints, one for each."""
    with TemporaryDirectory() as folder:
        async with open_core(Config(data_dir=Path(folder) / "data"), outbound=outbound) as core:
            urls = [f"https://{host_of(number)}:{port}/nudges" for number in range(partners)]
            numbers = iter(range(partners))

            async def make() -> None:
                for number in numbers:
                    name = partner_id(number)
                    await make_ready(
                        core,
                        name,
                        name,
                        f"admin@{name}.example",
                        games=(),
                        webhooks={"test": urls[number]},
                    )
                    tick()

            async with trio.open_nursery() as nursery:
                for _ in range(32):
                    nursery.start_soon(make)
            yield core, urls


def partner_id(number: int) -> str:
    return f"bench-{number:04}"


def tell(core: Core, number: int) -> None:
    """Tell a partner's courier of a match. Raises `Failed`."""
    if not core.directory.partner(partner_id(number)).courier("test").tell(m.Nudge("mat_bench")):
        raise Failed("a courier's mailbox is full")
