"""Waves: who waits in an environment, the pairs that one wave makes of them, and the pulse that asks for a wave each second.

The pulse is a child task. It asks the seats actor, which answers when it wants to be asked next; so there is none where nobody can be
paired, one that could not be answered is asked again, and one that a broken actor left behind ends with its next question.
"""

from __future__ import annotations

from collections import defaultdict, deque

import trio

from pgs.actors.kernel.mail import Crashed, Overloaded
from pgs.actors.messages.seats import Wave
from pgs.actors.partners import PartnerActors, PartnerDirectory
from pgs.actors.parts import Parts
from pgs.domain.environments import Environment
from pgs.domain.live_pairing import Pair, Waiting, pair_wave
from pgs.domain.pairing import Pool, is_open, oldest_opponent, pool_of
from pgs.domain.ratings import Rating
from pgs.domain.seats import Seat
from pgs.storage.bulk import read_in_bulk
from pgs.storage.ratings import partners_with_a_crowd

WAVE_S = 1.0
"""Seconds between two waves. Long enough for several seats to gather, and short enough that no
player minds."""

PAGE = 100
"""Pairs in one transaction. Stakes and moves of the same partner are handled in between."""

SPARE_RATINGS = 1000
"""Ratings kept in memory beyond those of waiting players. Most players come back."""


class Lobby:
    """The seats that wait in one environment of a partner, by pool, the oldest first; in live with their players' ratings."""

    def __init__(self) -> None:
        self._pools: dict[Pool, dict[str, Seat]] = {}
        self._waves: dict[Pool, int] = defaultdict(
            int
        )  # how many there have been since the pool was last empty
        self._joined: dict[str, int] = {}  # seat id → how many there had been when it came
        self._ratings: dict[tuple[str, str], Rating] = {}
        self._decided: deque[Pair] = deque()  # pairs of the last wave that are not committed yet

    def place(self, seat: Seat) -> None:
        """Keep the queues as the rows are: whoever waits stands in one, nobody else does."""
        pool = pool_of(seat)
        queue = self._pools.setdefault(pool, {})
        if seat.status == "waiting":
            newest = next(reversed(queue.values()), None)
            queue[seat.seat_id] = seat
            self._joined.setdefault(seat.seat_id, self._waves[pool])
            if (
                newest is not None and newest.seq > seat.seq
            ):  # its stake was confirmed late: it stands where its sequence says
                self._pools[pool] = {
                    other.seat_id: other
                    for other in sorted(queue.values(), key=lambda other: other.seq)
                }
            return
        queue.pop(seat.seat_id, None)
        self._joined.pop(seat.seat_id, None)
        if not queue:
            del self._pools[pool]
            self._waves.pop(pool, None)

    def oldest_opponent(self, seat: Seat, now: int) -> Seat | None:
        """Return the seat that a stake joins in the test environment, or None when it has to wait."""
        return oldest_opponent(self._pools.get(pool_of(seat), {}).values(), seat.player_id, now)

    @property
    def crowded(self) -> bool:
        """Whether a wave may find a pair: two seats at least wait for the same thing."""
        return any(len(queue) > 1 for queue in self._pools.values())

    @property
    def unfinished(self) -> bool:
        """Whether the last wave's pairs have not all been handed out."""
        return bool(self._decided)

    def rated(self, game_id: str, player_id: str, rating: Rating) -> None:
        """Note that a player's rating has moved."""
        if (game_id, player_id) in self._ratings:
            self._ratings[game_id, player_id] = rating

    def unrated(self) -> list[tuple[str, str]]:
        """Return game and player of every rating that the next wave needs and the lobby lacks."""
        wanted = {
            (seat.game_id, seat.player_id): None
            for queue in self._pools.values()
            if len(queue) > 1
            for seat in queue.values()
        }
        unknown = [key for key in wanted if key not in self._ratings]
        if unknown and len(self._ratings) + len(unknown) > len(self._joined) + SPARE_RATINGS:
            self._ratings.clear()
            return list(wanted)
        return unknown

    def learn(self, game_id: str, player_id: str, rating: Rating) -> None:
        """Keep a player's rating as rows have it."""
        self._ratings[game_id, player_id] = rating

    def next_pairs(self, now: int) -> list[Pair]:
        """Return up to `PAGE` pairs that may be committed now: the rest of the last wave's, or a new wave's.

        A new wave needs the ratings that `unrated` names.
        """
        if not self._decided:
            self._decided.extend(
                pair for pool in tuple(self._pools) for pair in self._wave(pool, now)
            )
        pairs: list[Pair] = []
        while self._decided and len(pairs) < PAGE:
            pair = self._decided.popleft()
            if all(
                self._waits(one.seat, now) for one in (pair.older, pair.newer)
            ):  # seats may have been closed since the wave
                pairs.append(pair)
        return pairs

    def _wave(self, pool: Pool, now: int) -> list[Pair]:
        queue = self._pools[pool]
        if len(queue) < 2:
            return []
        self._waves[pool] = number = self._waves[pool] + 1
        return pair_wave(
            [
                Waiting(
                    seat,
                    self._ratings[seat.game_id, seat.player_id],
                    number - self._joined[seat.seat_id],
                )
                for seat in queue.values()
            ],
            now,
        )

    def _waits(self, seat: Seat, now: int) -> bool:
        return is_open(seat, now) and self._pools.get(pool_of(seat), {}).get(seat.seat_id) is seat


class Pulse:
    """Asks for waves until it is told that there is nobody to pair. It stands for the life of the actor that started it."""

    def __init__(self, partner: PartnerActors, environment: Environment) -> None:
        self._partner = partner
        self._environment: Environment = environment
        partner.parts.system.spawn(self._beat)

    async def _beat(self) -> None:
        wait_s: float | None = WAVE_S
        while wait_s is not None:
            await trio.sleep(wait_s)
            try:
                wait_s = await self._partner.seats(self._environment).ask(Wave(self))
            except (
                Overloaded,
                Crashed,
            ):  # the actor's next life has a pulse of its own, and tells this one to end
                wait_s = WAVE_S


async def wake_lobbies(parts: Parts, directory: PartnerDirectory) -> None:
    """Open the seats actor of every partner with live seats to pair. Raises `StoreOutage`.

    It runs once after the start: an actor that nobody has opened asks for no waves.
    """
    for partner_id in await read_in_bulk(parts.database, partners_with_a_crowd):
        directory.partner(partner_id).seats("live").tell(Wave(None))
