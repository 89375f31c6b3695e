"""One partner's backend under faults: it takes seats, decides matches, reads, and remembers."""

import random
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from cluster_parts.cluster import call
from cluster_torture.threads import Threads

CALL_S = 1.0
"""Seconds after which a backend stops waiting for an answer and asks again. If a node is silent,
the length of an outage is known only to within this time."""

LOOK_S = 600.0
"""Seconds after which the comparison at the end gives up."""

PAUSE_S = 0.03
"""Seconds between two calls of a backend, so that a dozen backends leave a core for the nodes."""


class Backend(Threads):
    """A partner, its calls, and everything that was acknowledged.

    Its calls go through the proxy, one after the other. It also asks random nodes, which may not
    own the partner, for the match that was decided last: a node that was stopped for a while must
    not give a stale answer. `found` lists what went wrong.
    """

    def __init__(
        self,
        partner_id: str,
        key: str,
        tier: str,
        *,
        proxy: str,
        nodes: dict[str, str],
        rng: random.Random,
    ) -> None:
        super().__init__(
            *(partial(self._until_the_end, work) for work in (self._round, self._ask_a_node))
        )
        self.partner_id = partner_id
        self._key, self._tier = key, tier
        self._proxy, self._nodes = proxy, nodes
        self._rng = rng
        self.seats: dict[str, str] = {}  # idempotency key → seat id, as acknowledged
        self.sent: set[str] = set()
        self.decided: dict[str, str] = {}  # match id → the winner's key
        self.rows: dict[str, dict[str, Any]] = {}  # seat id → its newest row of the feed
        self.cursor = ""
        self.answers: list[float] = []  # when a good answer came
        self.refusals: dict[str, int] = {}  # how often each other answer came
        self.found: list[str] = []
        self._number = 0
        self._newest = ""  # the match that was decided last
        self.asked_directly = 0

    def _until_the_end(self, work: Callable[[], None]) -> None:
        while not self._ended.is_set():
            try:
                work()
            except Exception as error:  # a fault of this script must not pass for an outage
                self.found.append(f"{self.partner_id}: the backend broke: {error!r}")
                return

    def _round(self) -> None:
        self._number += 1
        keys = [f"{self.partner_id}-{self._number}-{side}" for side in "ab"]
        for key in keys:
            self.seat(key)
        match_id = self._match_of(keys[1])
        if match_id is not None:
            self._decide(match_id, self._rng.choice(keys))
            if match_id in self.decided:
                self._check_match(match_id, "the proxy", None)
        if self._number % 3 == 0:
            self.read_feed()
        self._read_an_old_seat()

    def ask(
        self, method: str, path: str, body: Any = None, *, at: str | None = None
    ) -> tuple[int, Any]:
        """Return an answer; status 0 if there was none in time."""
        self._ended.wait(PAUSE_S)
        try:
            status, told = call(at or self._proxy, method, path, self._key, body, timeout=CALL_S)
        except OSError:
            status, told = 0, None
        if status == 200 and at is None:
            self.answers.append(time.monotonic())
        elif status != 200:
            code = told.get("reason", "") if isinstance(told, dict) else ""
            said = f"{status} {code}".strip()
            self.refusals[said] = self.refusals.get(said, 0) + 1
        return status, told

    def seat(self, key: str) -> dict[str, Any] | None:
        """Take a seat, and ask again until it is acknowledged; None if the end comes first."""
        self.sent.add(key)
        body = {
            "playerId": f"player-{key}",
            "gameId": "tic-tac-toe",
            "tierId": self._tier,
            "stakeUsdCents": 100,
            "idempotencyKey": key,
        }
        while True:
            status, seat = self.ask("POST", "/partner/matches", body)
            if status == 200:
                known = self.seats.setdefault(key, seat["seatId"])
                if known != seat["seatId"]:
                    self.found.append(f"{key} has two seats: {known} and {seat['seatId']}")
                return dict(seat)
            if status not in (0, 429, 500, 502, 503, 504):
                self.found.append(f"a seat was answered {status} {seat}")
            if self._ended.is_set():
                return None

    def _match_of(self, key: str) -> str | None:
        """Return the match of a key's seat, from a second call with the same key."""
        seat = self.seat(key)
        return None if seat is None else seat.get("matchId")

    def _decide(self, match_id: str, winner: str) -> None:
        body = {"outcome": "ended", "winnerPlayerId": f"player-{winner}"}
        while not self._ended.is_set():
            status, told = self.ask("POST", f"/partner/test/matches/{match_id}/decide", body)
            if status == 200:
                self.decided[match_id] = winner
                self._newest = match_id
                return
            if status not in (0, 429, 500, 502, 503, 504):
                self.found.append(f"{match_id} was not decided: {status} {told}")
                return

    def _ask_a_node(self) -> None:
        """Ask a node directly for the match that was decided last; note a stale answer."""
        self._ended.wait(3 * PAUSE_S)
        name, address = self._rng.choice(sorted(self._nodes.items()))
        if match_id := self._newest:
            self.asked_directly += self._check_match(match_id, name, address)

    def _check_match(self, match_id: str, place: str, at: str | None) -> bool:
        """Read a decided match; note a stale answer. Return whether there was an answer."""
        status, match = self.ask("GET", f"/partner/matches/{match_id}", at=at)
        if status == 404 or (status == 200 and self._winner(match) != self.decided[match_id]):
            self.found.append(f"{place} gave a stale answer for {match_id}: {status} {match}")
        return status == 200

    @staticmethod
    def _winner(match: dict[str, Any]) -> str | None:
        won = [seat["playerId"] for seat in match["seats"] if seat.get("result") == "won"]
        return won[0].removeprefix("player-") if len(won) == 1 else None

    def _read_an_old_seat(self) -> None:
        """Read an acknowledged seat by its id; note a 404, which means that the seat is lost."""
        key = self._rng.choice(sorted(self.seats)) if self.seats else None
        if key is not None:
            status, seat = self.ask("GET", f"/partner/seats/{self.seats[key]}")
            if status == 404:
                self.found.append(f"the seat of {key} is lost: {seat}")

    def read_feed(self) -> bool:
        """Read the feed from the cursor on; return whether its end was reached."""
        while True:
            more = f"&cursor={self.cursor}" if self.cursor else ""
            status, page = self.ask("GET", f"/partner/results?limit=500{more}")
            if status != 200:
                if status not in (0, 429, 500, 502, 503, 504):
                    self.found.append(f"the feed was answered {status} {page}")
                return False
            for row in page["results"]:
                self.rows[row["seatId"]] = row
            self.cursor = page["nextCursor"]
            if not page["hasMore"]:
                return True

    # After the faults

    def look(self) -> None:
        """Ask for everything again, and compare. Everything that is wrong goes to `found`."""
        try:
            self._look()
        except Exception as error:  # a fault of this script must not pass for a clean run
            self.found.append(f"{self.partner_id}: the comparison broke: {error!r}")

    def _look(self) -> None:
        self._ended.clear()
        # A call that is not answered by then counts as missing.
        enough = threading.Timer(LOOK_S, self._ended.set)
        enough.daemon = True
        enough.start()
        for key in sorted(self.sent):
            self.seat(key)
        if len(set(self.seats.values())) != len(self.sent):
            self.found.append(f"{self.partner_id}: two keys have one seat, or one has none")
        for match_id, winner in self.decided.items():
            status, match = self._surely("GET", f"/partner/matches/{match_id}")
            if status != 200 or self._winner(match) != winner:
                self.found.append(f"{match_id} was won by {winner}, and is {status} {match}")
        give_up_at = time.monotonic() + 30
        while (wrong := self._wrong_rows()) and time.monotonic() < give_up_at:
            self.read_feed()
            time.sleep(0.1)
        self.found += wrong[:5]

    def _surely(self, method: str, path: str) -> tuple[int, Any]:
        status, told = 0, None
        for _ in range(30):
            status, told = self.ask(method, path)
            if status in (200, 404):
                break
        return status, told

    def _wrong_rows(self) -> list[str]:
        """Return what is missing or wrong in the rows that were read from the feed so far."""
        wrong = []
        winners = set(self.decided.values())
        matches = {seat: row.get("matchId") for seat, row in self.rows.items()}
        for key, seat_id in self.seats.items():
            row = self.rows.get(seat_id)
            match_id = matches.get(seat_id)
            if match_id is not None and match_id not in self.decided:
                continue  # nobody decided it: the end of the run came before the call
            if row is None:
                if self._is_ended(seat_id):
                    wrong.append(f"the feed of {self.partner_id} lacks the seat of {key}")
            elif row.get("result") != ("won" if key in winners else "lost"):
                wrong.append(f"the feed says of {key}: {row}")
            elif (row.get("payoutUsdCents") or 0) != (180 if key in winners else 0):
                wrong.append(f"the money of {key} is not settled: {row}")
        return wrong

    def _is_ended(self, seat_id: str) -> bool:
        status, seat = self._surely("GET", f"/partner/seats/{seat_id}")
        return status == 200 and seat.get("result") is not None
