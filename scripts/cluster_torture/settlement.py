"""The reference settlement server beside a cluster, killed at times; its books are compared."""

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

from cluster_parts.cluster import ROOT, Cluster
from cluster_parts.machines import PATIENCE_S, end, ending, find
from reference_settlement.books import Books

_SEATS: Final = (Path(__file__).parent / "seats.sql").read_text(encoding="utf-8")
_UNDECIDED: Final = (Path(__file__).parent / "undecided.sql").read_text(encoding="utf-8")
_PORT: Final = 8010
DECIDED_S: Final = 120.0
"""Seconds from the last fault until every charge and payout must be decided. The service waits at
most a minute before it asks for one of them again."""

_RELAY: Final = """\
global
    maxconn 500
defaults
    mode tcp
    timeout connect 3s
    timeout client 60s
    timeout server 60s
listen settlement
    bind 127.0.0.1:{port}
    server books {address}
"""


class Settlement:
    """The server, and a relay on each node's machine.

    A node calls a settlement server over plain HTTP only on loopback. The relay takes the calls
    there and carries them over the node's link, so a link that is down cuts the node off from it.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.folder = cluster.folder / "settlement"
        self._address = cluster.machines.address("proxy", _PORT)
        self._process: subprocess.Popen[bytes] | None = None
        self._relays: list[subprocess.Popen[bytes]] = []
        self._starts = 0
        self.start()
        for node in cluster.nodes.values():
            port = cluster.machines.address(node.name, _PORT).rpartition(":")[2]
            node.settings |= {
                "PGS_SETTLEMENT_URL": f"http://127.0.0.1:{port}",
                "PGS_SETTLEMENT_TOKEN_FILE": str(self.folder / "token"),
            }
            self._relay(node.name, port)

    def _relay(self, name: str, port: str) -> None:
        configuration = self.folder / f"{name}.cfg"
        configuration.write_text(_RELAY.format(port=port, address=self._address))
        words = [*ending(), find("haproxy", "haproxy"), "-db", "-f", str(configuration)]
        self._relays.append(self._run(self._cluster.machines.inside(name, words), f"{name}.log"))

    def _run(self, command: list[str], log: str) -> "subprocess.Popen[bytes]":
        self.folder.mkdir(exist_ok=True)
        with (self.folder / log).open("ab") as sink:
            return subprocess.Popen(command, stdout=sink, stderr=sink, cwd=ROOT)

    def start(self) -> None:
        """Start the server, and return once it takes calls."""
        host, _, port = self._address.rpartition(":")
        log, self._starts = f"server-{self._starts}.log", self._starts + 1
        words = ["--data", str(self.folder), "--host", host, "--port", port]
        script = str(ROOT / "scripts" / "settlement_server.py")
        self._process = self._run([*ending(), sys.executable, script, *words], log)
        give_up_at = time.monotonic() + PATIENCE_S
        while b"settlement is ready" not in (told := (self.folder / log).read_bytes()):
            if self._process.poll() is not None or time.monotonic() > give_up_at:
                raise RuntimeError(f"the settlement server is not ready: {told!r}")
            time.sleep(0.05)

    def kill(self) -> None:
        """End the server as a power cut would."""
        process, self._process = self._process, None
        end(process, signal.SIGKILL)

    def close(self) -> None:
        """End everything."""
        for process in (self._process, *self._relays):
            end(process, signal.SIGKILL)

    def compare(self) -> list[str]:
        """Return how the books of both sides differ, once everything is decided."""
        primary, give_up_at = self._cluster.pair.primary, time.monotonic() + DECIDED_S
        while (left := primary.ask(_UNDECIDED, database="pgs")[0]) != (0, 0):
            if time.monotonic() > give_up_at:
                return [f"{left[0]} charges and {left[1]} payouts were never decided"]
            time.sleep(0.2)
        books = Books(self.folder)
        try:
            theirs = books.report()
            found = [] if theirs["sound"] else [f"the settlement server's books: {theirs}"]
            ours = primary.ask(_SEATS, database="pgs")
            found += differences(ours, books.charges(), books.payouts())
        finally:
            books.close()
        compared = "The two books differ about" if found else "Both books have the same"
        self.told = (
            f"{compared} {len(ours)} charges and their payouts; posted again: "
            f"{theirs['repeatedCharges']} charges, {theirs['repeatedPayouts']} payouts."
        )
        return found

    told = ""
    """What the comparison has shown, in a sentence."""


def differences(
    seats: list[tuple[Any, ...]],
    charges: dict[str, tuple[int, str]],
    payouts: dict[tuple[str, str], tuple[str, int, str]],
) -> list[str]:
    """Return a line for each charge or payout that only one side has, or that differs.

    Each of `seats`: id, match, stake, status, payout, refund and settlement, as the service has
    them. `charges` and `payouts` are the server's, and are emptied.
    """
    found = []
    for seat_id, match_id, stake, status, payout, refund, settlement in seats:
        if settlement != "remote":
            found.append(f"the seat {seat_id} was settled inside the service")
            continue
        outcome = "declined" if status == "declined" else "confirmed"
        if (charge := charges.pop(seat_id, None)) != (stake, outcome):
            found.append(f"the charge of {seat_id}, {status} for {stake}, is {charge} there")
        owed = (payout or 0) + (refund or 0)
        expected = ("prize" if payout else "refund", owed, "confirmed") if owed else None
        if (paid := payouts.pop((match_id or "", seat_id), None)) != expected:
            found.append(f"{seat_id} of {match_id} got {expected}, and {paid} there")
    found += [f"only the settlement server has the charge of {seat}" for seat in charges]
    found += [
        f"only the settlement server has the payout {match}:{seat}" for match, seat in payouts
    ]
    return found
