"""Launches: a session is minted and a paid seat is taken, by the product and by its peers."""

import itertools
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from statistics import median

import msgspec
from bench_cases import servers
from bench_cases.caller import post
from bench_cases.cost import cost_us
from bench_cases.reservations import COLYSEUS, end_rooms, reservations
from bench_cases.servers import Server
from bench_cases.setting import GAME, Setting, seats
from rich.progress import Progress

TITLE = "A launch, and what a team would write instead"
PARTNERS = 200  # enough that no partner's bucket is empty


@dataclass(frozen=True)
class Turn:
    """What a call cost a server in a turn, in microseconds of processor time."""

    mint: float
    seat: float


@dataclass
class Costs:
    """What a call costs one server in microseconds of processor time, round by round."""

    mint: list[float] = field(default_factory=list)
    seat: list[float] = field(default_factory=list)

    def add(self, turn: Turn) -> None:
        """Add a round."""
        self.mint.append(turn.mint)
        self.seat.append(turn.seat)

    def launch(self) -> list[float]:
        """Return the cost of a whole launch, mint and seat, round by round."""
        return [mint + seat for mint, seat in zip(self.mint, self.seat, strict=True)]


def mints(setting: Setting, server: Server, run: str) -> Iterator[bytes]:
    """Return calls that mint a session, for each partner in turn. `run`: as for `seats`."""
    for number, partner in zip(range(setting.calls), itertools.cycle(setting.partners)):
        body = msgspec.json.encode({"gameId": GAME, "playerId": f"p{run}-{number}"})
        yield post(server.address, "/partner/sessions", body, partner.test_key)


def _launches(setting: Setting, server: Server) -> Turn:
    run = secrets.token_hex(4)
    mint = cost_us(setting, server, mints(setting, server, run))
    calls = seats(server.address, setting.partners, setting.calls, run)
    return Turn(mint, cost_us(setting, server, calls))


def reserved(setting: Setting) -> Turn:
    """Return what reservations cost a new Colyseus server that is warm and has no rooms.

    Nobody joins its rooms, so they stay for a while, and for each reservation its matchmaker
    filters all rooms. In a server that kept running, a reservation would cost more in each round.
    """
    server = servers.colyseus(setting.folder)
    try:
        calls = list(itertools.islice(reservations(server), setting.calls))
        cost_us(setting, server, calls)  # V8 compiles what is called
        end_rooms(server)
        return Turn(0.0, cost_us(setting, server, calls))
    finally:
        server.stop()


def measure(setting: Setting, progress: Progress) -> tuple[dict[str, Costs], str | None]:
    """Return each server's costs, and why Colyseus is missing among them, or None.

    A round measures the servers one after the other, and each round begins with another server.
    All servers but Colyseus keep running, so their databases hold the seats of all earlier rounds.
    Raises `Failed`, `NoAnswers` and `NotStarted`.
    """
    servers.install_peer()
    missing = servers.install_colyseus()
    running = [
        servers.product(setting.folder),
        servers.peer(setting.folder, setting.keys, "group"),
        servers.peer(setting.folder, setting.keys, "call"),
        servers.bare(setting.folder),
    ]
    turns: list[tuple[str, Callable[[], Turn]]] = [
        (server.name, partial(_launches, setting, server)) for server in running
    ]
    if missing is None:
        turns.append((COLYSEUS, partial(reserved, setting)))
    costs = {name: Costs() for name, _ in turns}
    task = progress.add_task("Launches", total=setting.rounds * len(turns))
    try:
        for number in range(-1, setting.rounds):  # the first round warms up
            first = number % len(turns)
            for name, take in turns[first:] + turns[:first]:
                turn = take()
                if number >= 0:
                    costs[name].add(turn)
                    progress.advance(task)
    finally:
        for server in running:
            server.stop()
    return costs, missing


def ratio(of: Costs, to: Costs) -> float:
    """Return the median over the rounds of `of.launch()` divided by `to.launch()`."""
    return median(a / b for a, b in zip(of.launch(), to.launch(), strict=True))
