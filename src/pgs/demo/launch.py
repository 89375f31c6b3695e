"""Launches matches as a partner's backend does: two sessions and two seats, with its key."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, TypeVar

import msgspec
import trio

from pgs.clock import Rng
from pgs.demo.backend import CALL_FAILED, Backend, Exchange
from pgs.domain.secrets import HidesSecrets

TIER: Final = "test-silver"
"""Tier of the players on the demo's page and of the bots. The lines for pasting use another tier,
so that their players are never matched with these."""

STAKE_USD_CENTS: Final = 500
"""Price of a seat on the demo's page: the floor of its tier, test-silver."""


T = TypeVar("T")


class NotLaunched(Exception):
    """A call failed or was refused; the message says which and why."""


class Player(msgspec.Struct, frozen=True):
    """One of the partner's players. `name` is what the opponent sees."""

    player_id: str
    name: str


class MintedSession(HidesSecrets, msgspec.Struct, frozen=True, rename="camel"):
    """The part of a minted session that a player's frame or a bot needs."""

    SECRETS = frozenset({"session_token"})

    session_token: str
    embed_url: str
    game_socket_url: str


class _Seat(msgspec.Struct, frozen=True, rename="camel"):
    match_id: str | None


class _Match(msgspec.Struct, frozen=True, rename="camel"):
    match_id: str
    status: str


class Launcher:
    """Launches matches with one key. Every method raises `NotLaunched`."""

    def __init__(self, backend: Backend, rng: Rng) -> None:
        self._backend = backend
        self._rng = rng
        self._seating = trio.Lock()

    async def mint(self, game_id: str, player: Player) -> MintedSession:
        """Return a new session of a player for a game."""
        with _call_errors():
            return _accepted(
                await self._backend.mint(game_id, player.player_id, player.name), MintedSession
            )

    async def launch(self, game_id: str, first: Player, second: Player) -> str:
        """Take two new seats, the first player's first; return the id of their match."""
        order = f"order-{self._rng.bytes(8).hex()}"
        # In test, the opponent is the oldest waiting seat. So launch one pair at a time.
        with _call_errors():
            async with self._seating:
                await self._seat(game_id, first, order)
                match_id = (await self._seat(game_id, second, order)).match_id
        if match_id is None:
            raise NotLaunched("the first player was matched with another opponent")
        return match_id

    async def is_running(self, match_id: str) -> bool:
        """Return whether a match has not ended."""
        with _call_errors():
            return _accepted(await self._backend.match(match_id), _Match).status == "started"

    async def call_off(self, match_id: str) -> None:
        """End a test match as no contest. A match that has ended stays as it is."""
        with _call_errors():
            answer = await self._backend.call_off(match_id)
            if answer.status != 409:
                _accepted(answer, _Match)

    async def _seat(self, game_id: str, player: Player, order: str) -> _Seat:
        name = f"{order}-{player.player_id}"
        return _accepted(
            await self._backend.seat(game_id, player.player_id, TIER, STAKE_USD_CENTS, name), _Seat
        )


@contextmanager
def _call_errors() -> Iterator[None]:
    """Turn the errors of a call into `NotLaunched`."""
    try:
        yield
    except CALL_FAILED as error:
        raise NotLaunched(f"the call failed: {str(error) or type(error).__name__}") from error


def _accepted(exchange: Exchange, kind: type[T]) -> T:
    """Return the answer as `kind`. Raises `NotLaunched` for a status other than 200."""
    if exchange.status != 200:
        reason = exchange.received.get("reason") or exchange.received.get("error")
        raise NotLaunched(f"{exchange.method} {exchange.path}: {exchange.status} {reason}")
    return msgspec.convert(exchange.received, kind)
