"""A partner's backend: the calls that it makes with its API key, over real HTTP."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from pgs_client import NoAnswer, ServiceError, UnexpectedAnswer, calls
from pgs_client.flows import Call
from pgs_client.records import Answer
from pgs_client.trio_client import TrioClient

CALL_FAILED = (NoAnswer, UnexpectedAnswer)
"""The errors of a call that gets no answer, or an answer that the service never gives."""


class Exchange(msgspec.Struct, frozen=True):
    """A call and its answer, both as decoded JSON. Header names are in lower case.

    `took_ms`: milliseconds from the request to the end of the answer.
    """

    method: str
    path: str
    sent: Any
    status: int
    headers: Mapping[str, str]
    received: Any
    took_ms: int = 0


class Backend:
    """Calls a service with a partner's client. Every method raises the errors of `CALL_FAILED`.

    `record` is called with each call that was answered.
    """

    def __init__(
        self, client: TrioClient, record: Callable[[Exchange], None] = lambda _: None
    ) -> None:
        self._client = client
        self._record = record

    async def me(self) -> Exchange:
        """Read the key's partner and its webhook."""
        return await self._call(calls.me())

    async def tiers(self, game_id: str) -> Exchange:
        """Read the tiers of a game and their prices."""
        return await self._call(calls.tiers(game_id))

    async def mint(self, game_id: str, player_id: str, display_name: str | None = None) -> Exchange:
        """Get a session token for a player's frame. `display_name` is what the opponent sees."""
        return await self._call(calls.mint(game_id, player_id, display_name))

    async def seat(
        self, game_id: str, player_id: str, tier_id: str, stake_usd_cents: int, idempotency_key: str
    ) -> Exchange:
        """Take a paid seat for a player."""
        return await self._call(
            calls.seat(game_id, player_id, tier_id, stake_usd_cents, idempotency_key)
        )

    async def match(self, match_id: str) -> Exchange:
        """Read a match."""
        return await self._call(calls.match(match_id))

    async def results(
        self, cursor: str | None = None, wait_s: int = 0, since: int | None = None
    ) -> Exchange:
        """Read the results feed after a cursor.

        Without a cursor, read it from the start, or from `since` (epoch seconds) if that is given.
        With `wait_s`, wait at most that long for rows.
        """
        return await self._call(calls.results(cursor, wait_s, since=since))

    async def decide(self, match_id: str, winner_player_id: str) -> Exchange:
        """End a test match with a winner."""
        return await self._call(calls.decide(match_id, winner_player_id))

    async def call_off(self, match_id: str) -> Exchange:
        """End a test match as no contest."""
        return await self._call(calls.call_off(match_id))

    async def _call(self, call: Call[Any]) -> Exchange:
        try:
            # `call` would return only the fields that the client library reads. The demo shows the
            # whole answer as it was sent, so this copy of `call` returns the answer itself.
            answer: Answer = await self._client.send(
                Call(
                    call.method, call.path, _whole_answer, call.sent, call.echo, held_s=call.held_s
                )
            )
        except ServiceError as refused:
            if refused.answer is None:
                raise
            answer = refused.answer
        exchange = Exchange(
            call.method,
            call.path,
            call.sent,
            answer.status,
            answer.headers,
            msgspec.json.decode(answer.content),
            round(answer.took_s * 1000),
        )
        self._record(exchange)
        return exchange


def _whole_answer(_: Mapping[str, Any], answer: Answer) -> Answer:
    return answer
