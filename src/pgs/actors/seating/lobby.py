"""The lobby: the seats that wait in one environment of a partner, and the pairs of a wave."""

from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Collection, Iterable
from itertools import chain

from pgs.domain.live_pairing import Pair, WaitingSeat, held_back, pair_wave
from pgs.domain.pairing import Pool, is_open, oldest_opponent, pool_of
from pgs.domain.ratings import Rating
from pgs.domain.seats import Seat

PAGE = 100
"""Pairs in one transaction. Between two pages the actor handles other messages, such as stakes, and
the writer commits other transactions, such as moves."""

SPARE_RATINGS = 1000
"""Ratings kept in memory beyond those of waiting players, because most players come back."""


class Lobby:
    """The waiting seats by pool, the oldest first.

    In live it also has the players' ratings, and knows who plays a match. One wave pairs the seats
    of all pools. Its pairs are handed out a page at a time.
    """

    def __init__(
        self, look_up: Callable[[str, str], Awaitable[Rating]], is_here: Callable[[str], bool]
    ) -> None:
        """`look_up` takes the ids of a game and a player, and returns the player's rating.

        `is_here` says whether a player may be put into a live match; that is false for a player who
        has left.
        """
        self._look_up = look_up
        self._is_here = is_here
        # By player: the seats whose match runs. Kept only in live, where such a seat forbids a
        # second match.
        self._playing: dict[str, set[str]] = defaultdict(set)
        self._pools: dict[Pool, dict[str, Seat]] = {}
        # How many waves a pool has had since it was last empty. A wave with fewer than two seats in
        # the pool does not count.
        self._waves: dict[Pool, int] = defaultdict(int)
        # By id of a seat in a pool: how many waves the pool had before the seat entered it.
        self._joined: dict[str, int] = {}
        self._ratings: dict[tuple[str, str], Rating] = {}
        # The pairs of the last wave that have not been handed out yet.
        self._paired: deque[Pair] = deque()

    @property
    def crowded(self) -> bool:
        """Whether a wave may find a pair: at least two seats wait in the same pool."""
        return any(len(queue) > 1 for queue in self._pools.values())

    @property
    def unfinished(self) -> bool:
        """Whether pairs of the last wave have not been handed out yet."""
        return bool(self._paired)

    def place(self, seat: Seat) -> None:
        """Add a seat to its pool if it waits; otherwise remove it."""
        if seat.status == "waiting":
            self._enter(pool_of(seat), seat)
        elif seat.seat_id in self._joined:
            self._leave(pool_of(seat), seat)
        if seat.environment == "live":
            self._follow_play(seat)

    def note_play(self, in_play: Iterable[tuple[str, str]]) -> None:
        """Note seats whose match runs: player id and seat id of each."""
        for player_id, seat_id in in_play:
            self._playing[player_id].add(seat_id)

    def oldest_opponent(
        self, seat: Seat, now: int, planned: Collection[str], waiting: Iterable[Seat]
    ) -> Seat | None:
        """Return the seat with which `seat` is paired in test, or None if `seat` has to wait.

        `planned`: the ids of all seats that are about to be committed. `waiting`: the seats among
        them that will wait. These are tried after the known seats, because new seats have higher
        sequences.
        """
        pool = pool_of(seat)
        known: Iterable[Seat] = self._pools.get(pool, {}).values()
        if planned:
            unchanged = (other for other in known if other.seat_id not in planned)
            known = chain(unchanged, (each for each in waiting if pool_of(each) == pool))
        return oldest_opponent(known, seat.player_id, now)

    def rated(self, game_id: str, player_id: str, rating: Rating) -> None:
        """Replace a player's rating if the lobby keeps one."""
        if (game_id, player_id) in self._ratings:
            self._ratings[game_id, player_id] = rating

    async def next_pairs(self, now: int) -> list[Pair]:
        """Return up to `PAGE` pairs to commit, left from the last wave or made by a new one.

        A pair is left out if, since the wave, one of its seats was closed or expired, or one of its
        players left or was paired. So a player who waits in several pools gets one match.
        """
        if not self._paired:
            for pool in tuple(self._pools):
                self._paired.extend(await self._wave(pool, now))
        pairs: list[Pair] = []
        players: set[str] = set()
        while self._paired and len(pairs) < PAGE:
            pair = self._paired.popleft()
            seats = (pair.older.seat, pair.newer.seat)
            if all(self._waits(seat, now) and seat.player_id not in players for seat in seats):
                pairs.append(pair)
                players.update(seat.player_id for seat in seats)
        return pairs

    def _follow_play(self, seat: Seat) -> None:
        if seat.status == "matched":
            self._playing[seat.player_id].add(seat.seat_id)
        elif seat.player_id in self._playing:
            self._playing[seat.player_id].discard(seat.seat_id)
            if not self._playing[seat.player_id]:
                del self._playing[seat.player_id]

    def _enter(self, pool: Pool, seat: Seat) -> None:
        queue = self._pools.setdefault(pool, {})
        newest = next(reversed(queue.values()), None)
        queue[seat.seat_id] = seat
        self._joined.setdefault(seat.seat_id, self._waves[pool])
        if newest is not None and newest.seq > seat.seq:
            # A seat with a higher sequence was confirmed before this one: sort the queue again.
            in_order = sorted(queue.values(), key=lambda other: other.seq)
            self._pools[pool] = {other.seat_id: other for other in in_order}

    def _leave(self, pool: Pool, seat: Seat) -> None:
        queue = self._pools[pool]
        del queue[seat.seat_id], self._joined[seat.seat_id]
        if not queue:
            del self._pools[pool]
            self._waves.pop(pool, None)

    async def _wave(self, pool: Pool, now: int) -> list[Pair]:
        queue = self._pools[pool]
        if len(queue) < 2:
            return []
        self._waves[pool] = number = self._waves[pool] + 1
        waiting = [
            WaitingSeat(seat, await self._rating(seat), number - self._joined[seat.seat_id])
            for seat in queue.values()
            if self._may_play(seat)
        ]
        return pair_wave(waiting, now)

    def _waits(self, seat: Seat, now: int) -> bool:
        known = self._pools.get(pool_of(seat), {}).get(seat.seat_id)
        return known is seat and is_open(seat, now) and self._may_play(seat)

    def _may_play(self, seat: Seat) -> bool:
        here = self._is_here(seat.player_id)
        return held_back(here=here, busy=seat.player_id in self._playing) is None

    async def _rating(self, seat: Seat) -> Rating:
        key = (seat.game_id, seat.player_id)
        rating = self._ratings.get(key)
        if rating is None:
            if len(self._ratings) >= len(self._joined) + SPARE_RATINGS:
                self._ratings.clear()
            rating = self._ratings[key] = await self._look_up(*key)
        return rating
