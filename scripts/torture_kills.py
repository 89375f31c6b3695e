#!/usr/bin/env python3
"""Kills a service again and again while backends work, and looks for what was lost.

    scripts/torture_kills.py                20 kills: about a minute and a half
    scripts/torture_kills.py --cycles 300   as recorded in docs/reliability.md

Eight workers take seats, take some back, decide matches, mint sessions and read the feed. After a
random number of answers the process gets SIGKILL; the workers' calls stay unanswered. At the end
every call is repeated with its idempotency key. The exit code is 1 if anything that was
acknowledged is missing or different. The table on standard output is in Markdown.
"""

import in_venv  # the first import, because the packages below are installed in .venv

# isort: split

import random
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Annotated, Any

import typer
from data_torture.service import ALONE, Scene, Wrong, until

WORKERS = 8
FEWEST, MOST = 20, 200  # answers before a kill


class Load:
    """What the backends have asked for, and what was acknowledged."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.sent: set[str] = set()
        self.answers = 0
        self.counts = {"decisions": 0, "cancellations": 0, "sessions": 0, "feed reads": 0}
        self.decided: dict[str, str] = {}  # match id → winner
        self.cancelled: set[str] = set()  # seat ids
        self.faults: list[str] = []

    def work(self, cycle: int, worker: int, rng: random.Random) -> None:
        """Call until the service is gone."""
        try:
            for number in range(10_000):
                self._one(f"{cycle}-{worker}-{number}{ALONE if rng.random() < 0.1 else ''}", rng)
        except OSError:
            return  # it was killed
        except Wrong as error:
            self.faults.append(str(error))

    def _one(self, key: str, rng: random.Random) -> None:
        self.sent.add(key)
        status, seat = self.scene.seat(key)
        self.answers += 1
        if status not in (200, 429, 503):
            raise Wrong(f"a seat was answered {status} {seat}")
        if status == 200 and seat.get("matchId"):
            winner = f"player-{key}"
            path = f"/partner/test/matches/{seat['matchId']}/decide"
            body = {"outcome": "ended", "winnerPlayerId": winner}
            if self._count("decisions", *self.scene.call("POST", path, body)):
                self.decided[seat["matchId"]] = winner
        elif status == 200 and key.endswith(ALONE):
            path = f"/partner/seats/{seat['seatId']}/cancel"
            if self._count("cancellations", *self.scene.call("POST", path)):
                self.cancelled.add(seat["seatId"])
        if rng.random() < 0.2:
            self._count("feed reads", *self.scene.call("GET", "/partner/results?limit=20"))
        if rng.random() < 0.1:
            body = {"gameId": "tic-tac-toe", "playerId": f"player-{key}"}
            self._count("sessions", *self.scene.call("POST", "/partner/sessions", body))

    def _count(self, kind: str, status: int, _: dict[str, Any]) -> bool:
        self.answers += 1
        self.counts[kind] += status == 200
        return status == 200

    def look(self) -> None:
        """Ask for everything again. Raises `Wrong` if something is missing or different."""
        if self.faults:
            raise Wrong(self.faults[0])
        for key in sorted(self.sent):
            until(f"{key} is answered", lambda key=key: self.scene.seat(key)[0] == 200)
        if len(set(self.scene.seats.values())) != len(self.sent):
            raise Wrong("two keys have one seat")
        for match_id, winner in self.decided.items():
            _, match = self.scene.call("GET", f"/partner/matches/{match_id}")
            won = [seat["playerId"] for seat in match["seats"] if seat.get("result") == "won"]
            if won != [winner]:
                raise Wrong(f"{match_id} was won by {winner}, and is {match}")
        for seat_id in self.cancelled:
            _, seat = self.scene.call("GET", f"/partner/seats/{seat_id}")
            if seat["status"] != "no_contest":
                raise Wrong(f"{seat_id} was taken back, and is {seat}")
        self.scene.read()
        for command in (("ledger", "check"), ("db", "check")):
            checked = self.scene.pgs(*command)
            if checked.returncode:
                raise Wrong(checked.stdout + checked.stderr)


def main(
    cycles: Annotated[int, typer.Option(min=1, help="How often to kill.")] = 20,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 1,
) -> None:
    """Kill a service under load."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="pgs-kills-") as place:
        scene = Scene(Path(place), None)
        load = Load(scene)
        starts: list[float] = []
        try:
            scene.pgs("partner", "set", "load-0001", "--burst", 100_000, "--rate", 100_000)
            for cycle in range(1, cycles + 1):
                began = time.monotonic()
                scene.must_start()
                starts.append(time.monotonic() - began)
                _cycle(load, cycle, rng)
                print(f"\r{cycle}/{cycles} kills", end="", file=sys.stderr, flush=True)
            print(file=sys.stderr)
            unanswered = len(load.sent) - len(scene.seats)
            acknowledged = len(scene.seats)
            scene.must_start()
            load.look()
            lost = "none"
        except Wrong as error:
            unanswered = acknowledged = -1
            lost = f"FAILED: {' '.join(str(error).split())[-300:]}"
        finally:
            scene.close()
    rows = {
        "kills": cycles,
        "seats acknowledged": acknowledged,
        "seats without an answer, asked for again": unanswered,
        **load.counts,
        "longest start after a kill": f"{max(starts):.1f} s",
        "acknowledged and lost, doubled or different": lost,
    }
    print("| What | How many |\n| --- | --- |")
    print("\n".join(f"| {what} | {count} |" for what, count in rows.items()))
    raise typer.Exit(lost != "none")


def _cycle(load: Load, cycle: int, rng: random.Random) -> None:
    """Work, and kill the service after a random number of answers."""
    wanted = load.answers + rng.randint(FEWEST, MOST)
    workers = [
        threading.Thread(target=load.work, args=(cycle, number, random.Random(rng.random())))
        for number in range(WORKERS)
    ]
    for worker in workers:
        worker.start()
    try:
        until("the answers arrive", lambda: load.answers >= wanted or load.faults)
    finally:
        load.scene.kill()
        for worker in workers:
            worker.join()


if __name__ == "__main__":
    typer.run(main)
