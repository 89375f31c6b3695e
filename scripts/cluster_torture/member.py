"""One account's admin under faults: sets prices with If-Match, and reads them at every node."""

import time
from collections.abc import Mapping
from typing import Any, Final

from cluster_parts.cluster import call
from cluster_torture.threads import Threads

from pgs.domain.totp import STEP_S, code_at

CALL_S: Final = 1.0
PAUSE_S: Final = 0.25
"""Seconds between two calls of an admin. Real admins, too, call far less often than backends."""

LOOK_S: Final = 60.0
"""Seconds in which each node must answer after the last fault."""

_TIER, _FLOOR, _CHOICES = "live-bronze", 100, 80
_PRICES: Final = "/partner/admin/prices/live"


class Member(Threads):
    """The only admin who writes to an account; so everything that is read is known beforehand.

    A write names the account's revision in If-Match, and is repeated until its outcome is known. A
    node that answers must show the price that was acknowledged last, and no older revision, whether
    or not it owns the account. `found` lists what went wrong.
    """

    def __init__(self, partner_id: str, token: str, proxy: str, nodes: Mapping[str, str]) -> None:
        super().__init__(self._work)
        self.partner_id = partner_id
        self._token = token
        self._places = {"the proxy": proxy, **nodes}
        self._secret, self._stepped_up_at = "", 0.0
        self._revision = 0  # the greatest revision in any answer
        self._price: int | None = None  # the price that was acknowledged last
        self._number = 0
        self.acknowledged = 0
        self.asked_nodes = 0
        self.repeated = 0  # writes that were repeated because their outcome was unknown
        self.found: list[str] = []

    def look(self) -> None:
        """Ask every node for the last price. Everything that is wrong goes to `found`."""
        self._ended.clear()
        give_up_at = time.monotonic() + LOOK_S
        for place in self._places:
            while not self._check_price(place):
                if time.monotonic() > give_up_at:
                    self.found.append(f"{self.partner_id}: {place} shows no prices")
                    return

    def _work(self) -> None:
        try:
            self._enrol()
            while not self._ended.is_set():
                self._write()
                for place in self._places:
                    if not self._ended.is_set():
                        self.asked_nodes += self._check_price(place)
        except Exception as error:  # a fault of this script must not pass for an outage
            self.found.append(f"{self.partner_id}: the admin broke: {error!r}")

    def _ask(
        self, method: str, path: str, body: Any = None, *, at: str = "the proxy", seen: str = ""
    ) -> tuple[int, Any]:
        """Return an answer; status 0 if there was none in time."""
        self._ended.wait(PAUSE_S)
        headers = {"if-match": seen} if seen else {}
        address = self._places[at]
        try:
            return call(address, method, path, self._token, body, timeout=CALL_S, headers=headers)
        except OSError:
            return 0, None

    def _enrol(self) -> None:
        while not self._ended.is_set():
            status, told = self._ask("POST", "/partner/admin/totp/enroll", {})
            if status == 200:
                self._secret = told["secret"]
                return self._step_up()
            self._unless_an_outage("enrolling", status, told)

    def _step_up(self) -> None:
        """Open the window for writes, at most once a minute, because each code works only once."""
        if time.monotonic() < self._stepped_up_at + 2 * STEP_S:
            return
        self._stepped_up_at = time.monotonic()
        body = {"code": code_at(self._secret, int(time.time()))}
        status, told = self._ask("POST", "/partner/admin/totp/verify", body)
        self._unless_an_outage("a code", status, told)

    def _unless_an_outage(self, what: str, status: int, told: Any) -> None:
        if status not in (0, 200, 429, 500, 502, 503, 504):
            self.found.append(f"{what} of {self.partner_id} was answered {status} {told}")

    def _write(self) -> None:
        """Set another price, and return once it is acknowledged or the end comes."""
        self._number += 1
        price = _FLOOR + self._number % _CHOICES
        seen, unknown = 0, False
        while not self._ended.is_set():
            seen = seen or self._read_revision()
            if not seen:
                continue
            body = {"prices": {_TIER: price}}
            status, told = self._ask("PUT", _PRICES, body, seen=str(seen))
            reason = told.get("reason") if isinstance(told, dict) else None
            # Nobody else writes: if the account has changed, an earlier try has done it.
            if status == 200 or (unknown and reason == "partner_changed"):
                self._price, self._revision = price, seen + 1
                self.acknowledged += 1
                self.repeated += unknown
                return
            if reason in ("step_up_required", "totp_not_enrolled"):
                self._step_up()
            else:
                unknown = True
                self._unless_an_outage("a price", status, told)
        if unknown:
            self._price = None  # nobody knows whether it was set

    def _read_revision(self) -> int:
        """Return the account's revision; 0 without an answer. Note a revision that has fallen."""
        status, told = self._ask("GET", "/partner/admin/account")
        if status != 200:
            self._unless_an_outage("the account", status, told)
            return 0
        if told["revision"] < self._revision:
            self.found.append(
                f"{self.partner_id} was at revision {self._revision}, and is at {told['revision']}"
            )
        self._revision = max(self._revision, told["revision"])
        return int(told["revision"])

    def _check_price(self, place: str) -> bool:
        """Read the prices; note a stale answer. Return whether there was an answer."""
        status, told = self._ask("GET", _PRICES, at=place)
        if status != 200:
            self._unless_an_outage("the prices", status, told)
            return False
        shown = told["prices"].get(_TIER)
        if self._price is not None and shown != self._price:
            self.found.append(
                f"{place} shows the price {shown} of {self.partner_id}: {self._price} was set"
            )
        return True
