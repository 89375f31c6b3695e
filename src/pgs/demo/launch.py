"""Launching a match for two players as a partner's backend does it: two sessions, two seats, all with the key."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, TypeVar

import msgspec
import trio

from pgs.clock import Rng
from pgs.demo.backend import CALL_FAILED, Backend, Exchange
from pgs.domain.secrets import HidesSecrets

TIER: Final = "test-silver"
"""Where the demo's own players sit: what is pasted from the README or the terminal takes seats of another tier, and meets nobody here."""

STAKE_USD_CENTS: Final = 500
"""Price of a seat on the demo's page: the floor of its tier, test-silver."""


T = TypeVar("T")


class NotLaunched(Exception):
    """A call failed or was refused; the message tells which and why."""


class Player(msgspec.Struct, frozen=True):
    """One of the partner's players. `name` is what the opponent sees."""

    player_id: str
    name: str


class MintedSession(HidesSecrets, msgspec.Struct, frozen=True, rename="camel"):
    """What a player's frame, or a bot, needs of a minted session. The rest of the answer stays with the backend."""

    SECRETS = frozenset({"session_token"})

    session_token: str
    embed_url: str
    game_socket_url: str


class _Seat(msgspec.Struct, frozen=True, rename="camel"):
    match_id: str | None


class _Match(msgspec.Struct, frozen=True, rename="camel"):
    match_id: str


class Launcher:
    """Launches with one key. All its methods raise `NotLaunched`."""

    def __init__(self, backend: Backend, rng: Rng) -> None:
        self._backend = backend
        self._rng = rng
        self._seating = trio.Lock()

    async def mint(self, game_id: str, player: Player) -> MintedSession:
        """Return a session."""
        with _told():
            return _accepted(
                await self._backend.mint(game_id, player.player_id, player.name), MintedSession
            )

    async def launch(self, game_id: str, first: Player, second: Player) -> str:
        """Return the match of two new seats, the first player's the older."""
        order = f"order-{self._rng.bytes(8).hex()}"
        # With a test key the oldest waiting seat is the opponent, whoever's it is: hence one pair at a time.
        with _told():
            async with self._seating:
                await self._seat(game_id, first, order)
                match_id = (await self._seat(game_id, second, order)).match_id
        if match_id is None:
            raise NotLaunched("somebody else was the first player's opponent")
        return match_id

    async def call_off(self, match_id: str) -> None:
        """End a test match without a contest; one that has ended stays as it is."""
        with _told():
            answer = await self._backend.call_off(match_id)
            if answer.status != 409:
                _accepted(answer, _Match)

    async def _seat(self, game_id: str, player: Player, order: str) -> _Seat:
        name = f"{order}-{player.player_id}"
        return _accepted(
            await self._backend.seat(game_id, player.player_id, TIER, STAKE_USD_CENTS, name), _Seat
        )


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except CALL_FAILED as error:
        raise NotLaunched(f"the call failed: {str(error) or type(error).__name__}") from error


def _accepted(exchange: Exchange, kind: type[T]) -> T:
    if exchange.status != 200:
        reason = exchange.received.get("reason") or exchange.received.get("error")
        raise NotLaunched(f"{exchange.method} {exchange.path}: {exchange.status} {reason}")
    return msgspec.convert(exchange.received, kind)
