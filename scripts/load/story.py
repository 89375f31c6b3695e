"""What the load is made of: launches of two players, decided matches, and readers of the feed.

A driver makes the calls, over HTTP or on the actors. Launches begin at even intervals, and the time
of a launch's first call is counted from the moment when it was due, so that a service that falls
behind cannot hide it.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal, Protocol

import trio
from load.times import Times

LAUNCHES_MAX = 2000  # launches under way; with more the service cannot keep up with the rate
LOOK_EVERY_S = 0.1  # seconds between two looks at what the readers have by now
DRAIN_S = 60.0  # seconds to wait for the last rows with their money
PAGE = 100  # rows of a page of the feed
REPLAYED = 0.05  # share of seats whose call is sent a second time


@dataclass(frozen=True)
class Ending:
    """How a match was decided: the winner is None for a draw and for no contest."""

    outcome: Literal["ended", "no_contest"]
    winner: str | None


@dataclass
class Books:
    """What a partner's backend knows: its seats, its decisions, and its newest feed rows."""

    stake: int
    seats: dict[str, str] = field(default_factory=dict)  # seat id by idempotency key
    matches: set[str] = field(default_factory=set)  # the match ids that calls for seats returned
    decided: dict[str, Ending] = field(default_factory=dict)  # by match id
    rows: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    cursor: str | int = ""
    earlier: set[str] = field(default_factory=set)  # the matches in the feed before the load


class LoadFailed(Exception):
    """The load cannot go on: a call was refused, or the service cannot keep up with the rate."""


def first_of(error: BaseException) -> BaseException:
    """Return the first error in a group of errors, or the error itself."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


class Driver(Protocol):
    """The calls of a partner's backend. Each returns the fields that the load checks."""

    async def mint(self, partner_id: str, player_id: str) -> None:
        """Mint a session."""

    async def seat(self, partner_id: str, player_id: str, idempotency_key: str) -> dict[str, Any]:
        """Take a seat; return at least `seatId` and `matchId`."""

    async def decide(self, partner_id: str, match_id: str, ending: Ending) -> None:
        """Decide a match."""

    async def feed(self, partner_id: str, cursor: str | int) -> tuple[list[dict[str, Any]], Any]:
        """Return the rows after a cursor, and the next cursor."""


@dataclass(frozen=True)
class Mix:
    """How large a load is: launches a second, for how long, and what follows each launch.

    `poll_every_s`: seconds between two reads of a partner's feed. `decided`: the share of matches
    that are decided; the others run on. `seed`: chooses the endings, the seats whose call is sent
    twice, and the matches that are not decided.
    """

    rate: float
    seconds: float
    poll_every_s: float
    decided: float
    seed: int


class Load:
    """A load on a driver, spread over the partners. `tick` is called after each launch.

    `failure`: why the load could not go on, or empty. `times` and `books` then have what was
    measured and learnt until then.
    """

    def __init__(
        self,
        driver: Driver,
        partner_ids: list[str],
        stake: int,
        mix: Mix,
        tick: Callable[[], None],
    ) -> None:
        self.times, self.failure = Times(), ""
        self.books = {partner_id: Books(stake) for partner_id in partner_ids}
        self._driver, self._mix, self._tick = driver, mix, tick
        self._random, self._open = Random(mix.seed), 0
        # A service that has had a load before must not take this one's calls for repetitions.
        self._name = secrets.token_hex(3)

    async def run(self) -> None:
        """Launch and decide; read until every row has its money, or until `DRAIN_S` have passed.

        Return at once, with `failure` set, when the load cannot go on.
        """
        try:
            async with trio.open_nursery() as nursery:
                for partner_id in self.books:
                    nursery.start_soon(self._pass_earlier, partner_id)
            async with trio.open_nursery() as nursery:
                for partner_id in self.books:
                    nursery.start_soon(self._follow, partner_id)
                await self._launch_all()
                with trio.move_on_after(DRAIN_S):
                    # Polled: the readers collect the rows, and no event announces them.
                    while not self._is_finished():  # noqa: ASYNC110
                        await trio.sleep(LOOK_EVERY_S)
                nursery.cancel_scope.cancel()
        except* LoadFailed as group:
            self.failure = str(first_of(group))

    def _is_finished(self) -> bool:
        return not self._open and all(map(_is_settled, self.books.values()))

    async def _launch_all(self) -> None:
        partner_ids, begun = list(self.books), trio.current_time()
        async with trio.open_nursery() as nursery:
            for number in range(int(self._mix.rate * self._mix.seconds)):
                due = begun + number / self._mix.rate
                await trio.sleep_until(due)
                if self._open >= LAUNCHES_MAX:
                    raise LoadFailed(
                        f"{LAUNCHES_MAX} launches are under way at once. Try a lower --rate."
                    )
                self._open += 1
                partner_id = partner_ids[number % len(partner_ids)]
                nursery.start_soon(self._launch, partner_id, number, due)

    async def _launch(self, partner_id: str, number: int, due: float) -> None:
        """Mint and seat two players. Decide a share of the matches that their seats complete."""
        books = self.books[partner_id]
        for side in "ab":
            player = f"p{self._name}-{number:07}{side}"
            await self._timed("mint", self._driver.mint, partner_id, player, since=due)
            seat = await self._timed("seat", self._driver.seat, partner_id, player, f"k-{player}")
            books.seats[f"k-{player}"] = seat["seatId"]
            if self._random.random() < REPLAYED:
                again = await self._timed(
                    "replay", self._driver.seat, partner_id, player, f"k-{player}"
                )
                if again["seatId"] != seat["seatId"]:
                    books.faults.append(f"{player} was seated twice")
            if seat["matchId"] is not None:
                books.matches.add(seat["matchId"])
            if seat["matchId"] is not None and self._random.random() < self._mix.decided:
                ending = self._random.choice(
                    [Ending("ended", player), Ending("ended", None), Ending("no_contest", None)]
                )
                books.decided[seat["matchId"]] = ending
                await self._timed(
                    "decide", self._driver.decide, partner_id, seat["matchId"], ending
                )
            due = trio.current_time()
        self._open -= 1
        self._tick()

    async def _pass_earlier(self, partner_id: str) -> None:
        """Read the rows that a partner's feed has before the load; their matches do not count."""
        books, full = self.books[partner_id], True
        while full:
            rows, books.cursor = await self._driver.feed(partner_id, books.cursor)
            books.earlier.update(row["matchId"] for row in rows)
            full = len(rows) == PAGE

    async def _follow(self, partner_id: str) -> None:
        """Read a partner's feed as its backend does: by cursor, newest revision of each row."""
        books = self.books[partner_id]
        while True:
            rows, books.cursor = await self._timed(
                "feed", self._driver.feed, partner_id, books.cursor
            )
            for row in rows:
                if row["matchId"] in books.earlier:
                    continue
                key = (row["matchId"], row["playerId"])
                if key in books.rows and books.rows[key]["revision"] >= row["revision"]:
                    books.faults.append(f"row {key} came twice with one revision")
                books.rows[key] = row
            if len(rows) < PAGE:
                await trio.sleep(self._mix.poll_every_s)

    async def _timed(
        self, kind: str, call: Callable[..., Any], *values: object, since: float | None = None
    ) -> Any:
        begun = trio.current_time() if since is None else since
        answer = await call(*values)
        self.times.add(kind, trio.current_time() - begun)
        return answer


def _is_settled(books: Books) -> bool:
    """Return whether both rows of every decided match have their money."""
    paid = sum("rakeUsdCents" in row for row in books.rows.values())
    return paid >= 2 * len(books.decided)
