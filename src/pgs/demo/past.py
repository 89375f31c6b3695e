"""The demo's past: test matches since last month, and the invoice of last month.

The service begins with a clock that is behind. Its own commands play the matches and assemble the
invoice; then the clock catches up.
"""

from datetime import UTC, datetime
from typing import Final

import msgspec

from pgs.actors.core import Core
from pgs.actors.messages.billing import AssembleInvoice
from pgs.actors.messages.seats import DecideMatch, SeatedTogether, SeatTogether
from pgs.clock import Clock
from pgs.demo.backend import Backend
from pgs.domain.days import FINAL_AFTER_S, day_of, first_day, month_of, start_of
from pgs.domain.matches import MatchWithSeats
from pgs.operator.ready_partners import NotMade

_EVERY_DAYS: Final = 3
"""Days from one day with matches to the next: about ten such days a month, so that the demo starts
about as fast as without a past."""

_AT_S: Final = 15 * 3600
"""Seconds from midnight to the matches of a day."""

_GAMES: Final = ("tic-tac-toe", "connect-four", "reversi")
_PLAYERS: Final = ("kit", "wren", "moss", "fern", "ivy", "reed")
_DAY: Final = ((0, "test-bronze"), (0, "test-bronze"), (1, "test-silver"))
"""The matches of a day, each with its tier. The number chooses the game: 0 is the game of that day,
1 the next one in `_GAMES`."""

_MONEY_S: Final = 20
"""Seconds that one call of the feed waits for recorded money, which takes milliseconds."""


class PastClock:
    """A clock that is behind another one until it has caught up. It never goes back."""

    def __init__(self, clock: Clock, at: int) -> None:
        self._clock = clock
        self._behind_s = clock.now() - at

    def time_of_other(self) -> int:
        """Return the other clock's time, in epoch seconds."""
        return self._clock.now()

    def go_to(self, at: int) -> None:
        """Go forward to a moment, in epoch seconds. An earlier one changes nothing."""
        self._behind_s = max(0, min(self._behind_s, self._clock.now() - at))

    def catch_up(self) -> None:
        """Show the other clock's time from now on."""
        self._behind_s = 0

    def now(self) -> int:
        """Return Unix epoch seconds, rounded down."""
        return self._clock.now() - self._behind_s

    def now_ms(self) -> int:
        """Return Unix epoch milliseconds, rounded down."""
        return self._clock.now_ms() - self._behind_s * 1000

    def real(self) -> int:
        """Return Unix epoch seconds: the machine's time minus what this clock is behind."""
        return self._clock.real() - self._behind_s

    def real_ms(self) -> int:
        """Return Unix epoch milliseconds: the machine's time minus what this clock is behind."""
        return self._clock.real_ms() - self._behind_s * 1000


class Past(msgspec.Struct, frozen=True):
    """How many matches were played since which day, and which month was billed.

    `since` and `month` are text. `until`: when the present began, in epoch seconds. All rows of
    the past were changed before that moment. So the feed leaves them out if its parameter `since`
    is `until`.
    """

    matches: int
    since: str
    month: str
    until: int


def last_month(now: int) -> int:
    """Return the newest month whose days can all be final."""
    return month_of(day_of(now - FINAL_AFTER_S)) - 1


def beginning(now: int) -> int:
    """Return when the demo's past begins, in epoch seconds: at the start of the billed month."""
    return start_of(first_day(last_month(now)))


async def play_past(core: Core, partner_id: str, backend: Backend, clock: PastClock) -> Past:
    """Play test matches from the time of `clock` to yesterday; assemble last month's invoice.

    `clock` is the core's; afterwards it shows the present. Raises `NotMade`, and `CALL_FAILED`.
    """
    began, now = day_of(clock.now()), clock.time_of_other()
    month = last_month(now)
    over = first_day(month + 1)
    days = range(began, day_of(now), _EVERY_DAYS)
    cursor: str | None = None
    for number, day in enumerate(days):
        if day >= over:
            await _assemble(core, partner_id, clock, month)
        clock.go_to(start_of(day) + _AT_S)
        played = {
            await _play(core, partner_id, _GAMES[(number + game) % len(_GAMES)], tier_id, order)
            for order, (game, tier_id) in enumerate(_DAY, number * len(_DAY))
        }
        cursor = await _wait_for_money(backend, cursor, played)
    await _assemble(core, partner_id, clock, month)
    clock.catch_up()
    first, of = (datetime.fromtimestamp(start_of(day), UTC) for day in (began, first_day(month)))
    matches = len(days) * len(_DAY)
    return Past(matches, f"{first.day} {first:%B}", f"{of:%B}", clock.now())


async def _assemble(core: Core, partner_id: str, clock: PastClock, month: int) -> None:
    """Move the clock to where all days of a month are final, and assemble the month's invoice.

    A second call changes nothing.
    """
    clock.go_to(start_of(first_day(month + 1)) + FINAL_AFTER_S)
    billing = core.directory.partner(partner_id).billing("test")
    invoice = (await billing.ask(AssembleInvoice(month))).invoice
    if invoice is None or invoice.status != "open":
        raise NotMade(f"the demo's invoice: {invoice}")


async def _play(core: Core, partner_id: str, game_id: str, tier_id: str, order: int) -> str:
    """Seat two players and decide their match; return its id. Every seventh match is a draw."""
    seats = core.directory.partner(partner_id).seats("test")
    first = order % len(_PLAYERS)
    second = first - 1 - order // len(_PLAYERS) % (len(_PLAYERS) - 1)
    players = (_PLAYERS[first], _PLAYERS[second])
    seated = await seats.ask(SeatTogether(players, game_id, tier_id, None, f"past-{order}"))
    if not isinstance(seated, SeatedTogether):
        raise NotMade(f"a match of the demo's past: {seated}")
    winner = None if order % 7 == 6 else players[order // 2 % 2]
    decision = DecideMatch(seated.match_id, "ended", winner, "decided_by_test_key")
    decided = await seats.ask(decision)
    if not isinstance(decided, MatchWithSeats):
        raise NotMade(f"the end of a match of the demo's past: {decided}")
    return seated.match_id


async def _wait_for_money(backend: Backend, cursor: str | None, played: set[str]) -> str | None:
    """Follow the feed until the money of all matches is recorded; return the cursor reached.

    The clock must not go on before this returns, or the money would be recorded on a later day than
    the match.
    """
    owed = set(played)
    while owed:
        read = await backend.results(cursor, _MONEY_S)
        if read.status != 200:
            raise NotMade(f"the feed of the demo's past: {read.status} {read.received}")
        owed -= {row["matchId"] for row in read.received["results"] if "rakeUsdCents" in row}
        cursor = read.received["nextCursor"]
    return cursor
