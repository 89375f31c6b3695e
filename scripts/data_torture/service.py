"""A service in a process of its own, and one partner's backend that remembers every answer."""

import http.client
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

SCRIPTS = Path(__file__).resolve().parent.parent
READY_S = 60.0
PATIENCE_S = 30.0
ALONE = "-alone"


class Wrong(Exception):
    """Something was lost, or a refusal does not say what it should."""


def until(what: str, holds: Any) -> None:
    """Return once `holds()` is true. Raises `Wrong` after `PATIENCE_S`."""
    give_up_at = time.monotonic() + PATIENCE_S
    while not holds():
        if time.monotonic() > give_up_at:
            raise Wrong(f"it never happened: {what}")
        time.sleep(0.05)


def compile_faults(folder: Path) -> Path | None:
    """Return the library that makes disk and clock fail; None without a C compiler."""
    if shutil.which("gcc") is None or not sys.platform.startswith("linux"):
        return None
    library = folder / "faults.so"
    source = SCRIPTS / "data_torture" / "faults.c"
    subprocess.run(
        ["gcc", "-shared", "-fPIC", "-O2", "-o", library, source, "-ldl"], check=True, timeout=60
    )
    return library


class Scene:
    """A data folder with one partner, its service, and what the partner's backend knows."""

    def __init__(self, place: Path, library: Path | None) -> None:
        self.place, self.folder = place, place / "data"
        self.log = place / "log"
        self._library = library
        self._faults = place / "faults"
        self.faults()
        self._process: subprocess.Popen[str] | None = None
        self._public = self._internal = ""
        self._played = 0
        self.seats: dict[str, str] = {}  # idempotency key → seat id, as acknowledged
        self.shown: set[str] = set()  # idempotency keys of all rows of the feed that were read
        self.cursor = ""
        made = self.run_script("seed.py", "--data", self.folder, "--partners", 1, "--out", "keys")
        if made.returncode:
            raise Wrong(made.stderr)
        (keys,) = json.loads((place / "keys").read_text())
        self.key, self.tier = keys["testKey"], keys["tierId"]

    def run_script(self, name: str, *words: object) -> subprocess.CompletedProcess[str]:
        """Run a script of the checkout in the scene's folder."""
        return self._run(sys.executable, SCRIPTS / name, *words)

    def pgs(self, *words: object) -> subprocess.CompletedProcess[str]:
        """Run a command of `pgs` on the data folder."""
        return self._run(sys.executable, "-m", "pgs", *words, "--data", self.folder)

    def _run(self, *words: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(word) for word in words],
            cwd=self.place,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    def faults(self, *, sync: bool = False, full: bool = False, clock: int = 0) -> None:
        """Make syncs fail, the disk full, or the clock wrong by seconds; by default nothing."""
        file = os.open(self._faults, os.O_WRONLY | os.O_CREAT, 0o600)
        os.pwrite(file, struct.pack("=qqq", sync, full, clock), 0)
        os.close(file)

    def start(self) -> str | None:
        """Start the service; return None once it is ready, or its last lines if it ends."""
        environ = {name: value for name, value in os.environ.items() if name[:4] != "PGS_"}
        environ |= {"PGS_LISTEN": "127.0.0.1:0", "PGS_INTERNAL_LISTEN": "127.0.0.1:0"}
        if self._library is not None:
            environ |= {"LD_PRELOAD": str(self._library), "TORTURE_FAULTS": str(self._faults)}
        with self.log.open("w") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "pgs", "serve", "--data", str(self.folder)],
                env=environ,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()  # it also returns when the process ends
        if not line:
            self._process.wait(READY_S)
            return self.log.read_text()
        words = line.split()
        self._public, self._internal = words[3], words[5].rstrip(",")
        return None

    def must_start(self) -> None:
        """Start the service. Raises `Wrong` if it refuses."""
        if (refusal := self.start()) is not None:
            raise Wrong(f"the start was refused: {refusal}")

    def must_refuse(self, *said: str) -> str:
        """Return why a start is refused. Raises `Wrong` if it is not, or the text lacks `said`."""
        refusal = self.start()
        if refusal is None:
            self.kill()
            raise Wrong("it started")
        missing = [words for words in said if words not in refusal]
        if missing or "Traceback" in refusal:
            raise Wrong(f"the refusal does not say {missing}: {refusal}")
        return "refused: " + refusal.removeprefix("pgs: ").split(" Put ")[0].split(". ")[0][-60:]

    def kill(self) -> None:
        """End the service with SIGKILL."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def stop(self) -> None:
        """Stop the service as a supervisor does."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        self._process.communicate(timeout=PATIENCE_S)
        self._process = None

    def ended(self) -> bool:
        """Return whether the service has ended by itself."""
        return self._process is not None and self._process.poll() is not None

    def call(self, method: str, path: str, body: Any = None) -> tuple[int, dict[str, Any]]:
        """Return the status and the body of an answer. Raises OSError if there is none."""
        return self._call(self._public, method, path, body)

    def ready(self) -> tuple[int, str]:
        """Return the status of readiness, and what it says."""
        status, told = self._call(self._internal, "GET", "/internal/readyz")
        return status, str(told["status"])

    def _call(
        self, url: str, method: str, path: str, body: Any = None
    ) -> tuple[int, dict[str, Any]]:
        connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=PATIENCE_S)
        try:
            head = {"authorization": f"Bearer {self.key}"}
            text = None if body is None else json.dumps(body)
            connection.request(method, path, body=text, headers=head)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        except http.client.HTTPException as error:
            raise OSError(str(error)) from error
        finally:
            connection.close()

    def seat(self, key: str) -> tuple[int, dict[str, Any]]:
        """Take a seat, or ask again for the one of that idempotency key.

        If the key ends in `ALONE`, the seat is at another game, where hardly anybody plays.
        """
        body = {
            "playerId": f"player-{key}",
            "gameId": "connect-four" if key.endswith(ALONE) else "tic-tac-toe",
            "tierId": self.tier,
            "stakeUsdCents": 100,
            "idempotencyKey": key,
        }
        status, seat = self.call("POST", "/partner/matches", body)
        if status == 200:
            known = self.seats.setdefault(key, seat["seatId"])
            if known != seat["seatId"]:
                raise Wrong(f"{key} has two seats")
        return status, seat

    def pair(self, key: str) -> bool:
        """Take a seat and its opponent's, or ask for them again; return whether both are taken."""
        return self.seat(key)[0] == 200 and self.seat(f"{key}-opponent")[0] == 200

    def play(self, matches: int = 5) -> None:
        """Play matches to their ends, and read the feed to its end."""
        for _ in range(matches):
            self._played += 1
            self._must_seat(f"{self._played}-a")
            match_id = self._must_seat(f"{self._played}-b")["matchId"]
            path = f"/partner/test/matches/{match_id}/decide"
            status, told = self.call(
                "POST",
                path,
                {"outcome": "ended", "winnerPlayerId": f"player-{self._played}-b"},
            )
            if status != 200:
                raise Wrong(f"a match is not decided: {told}")
        self.read()

    def _must_seat(self, key: str) -> dict[str, Any]:
        status, seat = self.seat(key)
        if status != 200:
            raise Wrong(f"no seat: {seat}")
        return seat

    def read(self) -> set[str]:
        """Return the idempotency keys of the rows after the cursor, and move the cursor."""
        found: set[str] = set()
        while True:
            path = f"/partner/results?limit=500&cursor={self.cursor}"
            status, page = self.call("GET", path if self.cursor else path.partition("&")[0])
            if status != 200:
                raise Wrong(f"the feed cannot be read: {page}")
            found |= {row["idempotencyKey"] for row in page["results"]}
            self.shown |= found
            self.cursor = page["nextCursor"]
            if not page["hasMore"]:
                return found

    def nothing_lost(self, *, since: dict[str, str] | None = None) -> str:
        """Check everything that was acknowledged, and that play and the feed go on."""
        for key, seat_id in (self.seats if since is None else since).items():
            status, seat = self.call("GET", f"/partner/seats/{seat_id}")
            if status != 200:
                raise Wrong(f"the seat of {key} is lost: {seat}")
            self.seat(key)
        self.read()
        was = self._played
        self.play(2)
        new = {f"{number}-{side}" for number in (was + 1, was + 2) for side in "ab"}
        until("the new rows are in the feed", lambda: new <= self.shown | self.read())
        checked = self.pgs("ledger", "check")
        if checked.returncode:
            raise Wrong(checked.stdout + checked.stderr)
        return f"nothing lost: {len(self.seats if since is None else since)} seats"

    def close(self) -> None:
        """End everything."""
        self.kill()
