"""One round: a new service in its own process, bots in this one, and all checks at the end."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import trio
from game_load.bots import Crowd, Pair, Partner
from game_load.check import faults_of, ledger_faults
from game_load.open_files import allow_sockets
from load.story import LoadFailed
from load.times import Times
from rich.progress import Progress
from seed import FLOOR_USD_CENTS, seed

from pgs.games.installed import load_games

MATCHES_EACH = 50  # matches of a partner: 200 calls, which is within the burst of its bucket
PAYOUTS_S = 60.0  # seconds to wait for the money of the last matches
TICKS = os.sysconf("SC_CLK_TCK")
EXPECTED = '"no_identity_issuer"'  # the only warning of a service without an identity issuer
SPANS = 10  # parts of a round in which moves are counted
READY = re.compile(r"pgs is ready: (http://\S+) ")


class Figures(msgspec.Struct, frozen=True, rename="camel"):
    """The measurements of a round, and the faults that its checks found. Memory in MB.

    `cpu_s`, `bots_cpu_s`: processor time of the service and of the bots during the matches.
    """

    matches: int
    think_s: float
    moves: int
    handshakes_s: float
    play_s: float
    recorded_s: float  # from the last move until the feed had the last match's money
    moves_ms: dict[str, float]  # a move's time by percentile, and the number of moves
    pace: list[float]  # moves a second in each of `SPANS` equal parts of `play_s`
    cpu_s: float
    bots_cpu_s: float
    idle_mb: float
    open_mb: float
    peak_mb: float
    faults: list[str]


class Service:
    """A running `pgs serve` on a data folder."""

    def __init__(self, folder: Path) -> None:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("PGS_")}
        listen = {"PGS_LISTEN": "127.0.0.1:0", "PGS_INTERNAL_LISTEN": "127.0.0.1:0"}
        settings = {**clean, **listen, "PGS_DATA_DIR": str(folder), "PGS_LOG_LEVEL": "warning"}
        self._log = folder.with_suffix(".log")
        with self._log.open("wb") as log:
            command = [sys.executable, "-m", "pgs", "serve"]
            self._process = subprocess.Popen(
                command,
                env=settings,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        found = READY.match(self._process.stdout.readline() if self._process.stdout else "")
        if found is None:
            self.kill()
            raise LoadFailed(f"the service did not start: {self._log.read_text()}")
        self.base_url = found[1]

    def cpu_s(self) -> float:
        """Return the seconds of processor time that the service has used."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def memory_mb(self, name: str = "VmRSS") -> float:
        """Return its resident memory in MB, or the peak for `VmHWM` (proc(5), status)."""
        found = re.search(
            rf"^{name}:\s+([0-9]+) kB",
            Path(f"/proc/{self._process.pid}/status").read_text(),
            re.MULTILINE,
        )
        return int(found[1]) / 1024 if found else 0.0

    def stop(self) -> None:
        """Stop it. Raises `LoadFailed` if it logged anything unexpected or did not exit with 0."""
        self._process.send_signal(signal.SIGTERM)
        try:
            code = self._process.wait(30)
        finally:
            self.kill()
        complaints = [line for line in self._log.read_text().splitlines() if EXPECTED not in line]
        if code != 0 or complaints:
            raise LoadFailed(f"the service ended with {code} and logged {complaints[:3]}")

    def kill(self) -> None:
        """Kill it, whatever its state."""
        self._process.kill()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()


async def play_round(
    matches: int, think_s: float, games: Sequence[str], progress: Progress, times: Times
) -> Figures:
    """Play a round on a new service, and return its figures with the faults that were found.

    `times` gets the time of every move, also if the round cannot go on. Raises `LoadFailed` then.
    """
    if why := allow_sockets(2 * matches):
        raise LoadFailed(why)
    with TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        partners = [
            Partner(partner.partner_id, partner.test_key, "test-bronze")
            for partner in await seed(data, -(-matches // MATCHES_EACH))
        ]
        pairs = _pairs(partners, games, matches)
        task = progress.add_task(f"Matches, thinking {think_s:g} s", total=matches)
        service = Service(data)
        crowd = Crowd(
            service.base_url, pairs, think_s, FLOOR_USD_CENTS, lambda: progress.advance(task)
        )
        try:
            idle, with_sockets, at_begin = service.memory_mb(), [0.0], [0.0]

            def connected() -> None:
                with_sockets[0] = service.memory_mb()

            def began() -> None:
                at_begin[0] = service.cpu_s()

            await crowd.play(connected, began)
            cpu_s, ended = service.cpu_s() - at_begin[0], trio.current_time()
            rows = await _feed(crowd, partners, 2 * matches)
            recorded_s = trio.current_time() - ended
            await crowd.aclose()
            peak = service.memory_mb("VmHWM")
            service.stop()
        finally:
            service.kill()
            times.include(crowd.kind, crowd.times)
        faults = faults_of(pairs, crowd.sides, rows, load_games()) or await ledger_faults(
            data, pairs, rows
        )
    return Figures(
        matches=matches,
        think_s=think_s,
        moves=len(crowd.moved_at),
        handshakes_s=crowd.handshakes_s,
        play_s=crowd.play_s,
        recorded_s=recorded_s,
        moves_ms=crowd.times.report().get(crowd.kind, {}),
        pace=_pace(crowd),
        cpu_s=cpu_s,
        bots_cpu_s=crowd.cpu_s,
        idle_mb=idle,
        open_mb=with_sockets[0],
        peak_mb=peak,
        faults=faults,
    )


def _pace(crowd: Crowd) -> list[float]:
    span = crowd.play_s / SPANS
    counts = [0] * SPANS
    for at in crowd.moved_at:
        counts[min(SPANS - 1, int(at / span))] += 1
    return [count / span for count in counts]


def _pairs(partners: Sequence[Partner], games: Sequence[str], matches: int) -> list[Pair]:
    """Return the matches to launch, of each partner and each game in turn."""
    return [
        Pair(
            partners[number % len(partners)],
            games[number % len(games)],
            (f"bot-{number:04}-a", f"bot-{number:04}-b"),
        )
        for number in range(matches)
    ]


async def _feed(crowd: Crowd, partners: Sequence[Partner], expected: int) -> list[dict[str, Any]]:
    """Wait until all feed rows have their money; return the newest revision of each row."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    cursors = {partner.partner_id: "" for partner in partners}
    with trio.move_on_after(PAYOUTS_S):
        while len(rows) < expected or not all("payoutUsdCents" in row for row in rows.values()):
            for partner in partners:
                more = True
                while more:
                    cursor = cursors[partner.partner_id]
                    page: Any = await crowd.call(
                        "GET",
                        partner.test_key,
                        "/partner/results?limit=500" + (cursor and f"&cursor={cursor}"),
                    )
                    rows.update({(row["matchId"], row["playerId"]): row for row in page["results"]})
                    cursors[partner.partner_id], more = page["nextCursor"], page["hasMore"]
            await trio.sleep(0.1)
        return list(rows.values())
    owing = sum("payoutUsdCents" not in row for row in rows.values())
    raise LoadFailed(
        f"after {PAYOUTS_S:g} s the feed has {len(rows)} of {expected} rows, "
        f"{owing} of them without their money"
    )
