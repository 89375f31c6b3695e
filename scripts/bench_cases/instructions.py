"""Instructions of a launch, counted by valgrind: a figure that a busy machine does not change."""

import re
import secrets
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from bench_cases import servers
from bench_cases.caller import call
from bench_cases.launch import mints
from bench_cases.servers import Server, Under
from bench_cases.setting import Failed, Setting, seats
from cluster_parts.machines import find
from rich.progress import Progress

TITLE = "Instructions of a launch"
PARTNERS = 50
SLOWER = 5  # valgrind is slow: this case makes one call where the others make this many
START_S = 300.0  # under valgrind a server runs about fifty times slower
COUNTS = "callgrind"
MAIN_THREAD = 1  # callgrind's number of the thread that runs the event loop
CONTROL_S = 120.0  # seconds that callgrind_control may take


@dataclass
class Instructions:
    """Instructions of one call, round by round: of the event loop's thread, and of the others."""

    loop: list[float] = field(default_factory=list)
    threads: list[float] = field(default_factory=list)

    def add(self, loop: float, threads: float) -> None:
        """Add a round."""
        self.loop.append(loop)
        self.threads.append(threads)

    def parts(self) -> tuple[float, float]:
        """Return the medians of the event loop's thread and of the others."""
        return median(self.loop), median(self.threads)

    def total(self) -> float:
        """Return the median of all threads' instructions."""
        return median(a + b for a, b in zip(self.loop, self.threads, strict=True))


@dataclass
class Launches:
    """What the two calls of a launch cost one server."""

    mint: Instructions = field(default_factory=Instructions)
    seat: Instructions = field(default_factory=Instructions)

    def total(self) -> float:
        """Return the instructions of a mint and a seat."""
        return self.mint.total() + self.seat.total()


def measure(setting: Setting, progress: Progress, *, with_peer: bool = True) -> dict[str, Launches]:
    """Return each server's instructions. Those of the kernel are not counted.

    The servers run one after the other, because their figures do not depend on the time. Raises
    `Failed`, `Missing`, `NoAnswers` and `NotStarted`.
    """
    valgrind = find("valgrind", "valgrind")
    under = Under(
        [
            valgrind,
            "--tool=callgrind",
            "--instr-atstart=no",
            "--separate-threads=yes",
            f"--callgrind-out-file={setting.folder}/{COUNTS}.%p",
        ],
        START_S,
    )
    starts: list[Callable[[], Server]] = [lambda: servers.product(setting.folder, under)]
    if with_peer:
        servers.install_peer()
        starts += [
            lambda: servers.peer(setting.folder, setting.keys, "group", under),
            lambda: servers.peer(setting.folder, setting.keys, "call", under),
        ]
    starts.append(lambda: servers.bare(setting.folder, under))
    found: dict[str, Launches] = {}
    task = progress.add_task("Instructions", total=len(starts) * (setting.rounds + 1))
    for start in starts:
        server = start()
        launches = found.setdefault(server.name, Launches())
        try:
            for number in range(-1, setting.rounds):  # the first round warms up
                run = secrets.token_hex(4)
                mint = _counted(server, list(mints(setting, server, run)), setting)
                taken = seats(server.address, setting.partners, setting.calls, run)
                seat = _counted(server, list(taken), setting)
                if number >= 0:
                    launches.mint.add(*mint)
                    launches.seat.add(*seat)
                progress.advance(task)
        finally:
            server.stop()
    return found


def _counted(server: Server, requests: list[bytes], setting: Setting) -> tuple[float, float]:
    """Return the instructions of a call: of the main thread, and of the others."""
    _control(server, "--instr=on")
    outcome = call(
        server.address,
        iter(requests),
        connections=setting.connections,
        patience_s=START_S,
    )
    _control(server, "--instr=off")
    if outcome.bad():
        raise Failed(f"{server.name} answered {outcome.statuses}")
    _control(server, "--dump")
    main = others = 0
    for counts in setting.folder.glob(f"{COUNTS}.{server.pid}*"):
        thread, instructions = read(counts)
        counts.unlink()
        if thread == MAIN_THREAD:
            main += instructions
        else:
            others += instructions
    if not main:
        raise Failed(f"callgrind counted nothing of {server.name}")
    return main / len(requests), others / len(requests)


def _control(server: Server, order: str) -> None:
    """Give callgrind an order, and wait until it has been carried out."""
    command = ["callgrind_control", order, str(server.pid)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=CONTROL_S)
    if done.returncode != 0:
        raise Failed(f"callgrind_control {order} failed: {done.stderr.strip()[-200:]}")


def read(counts: Path) -> tuple[int, int]:
    """Return the thread of a file of callgrind, and its instructions."""
    text = counts.read_text(encoding="utf-8", errors="replace")
    thread = re.search(r"^thread: ([0-9]+)$", text, re.MULTILINE)
    total = re.search(r"^totals: ([0-9]+)$", text, re.MULTILINE)
    return int(thread[1]) if thread else MAIN_THREAD, int(total[1]) if total else 0
