"""What an account still needs before its first seat at a game. Keys and members can read it."""

import msgspec
import trio
from msgspec import UNSET, UnsetType

from pgs.domain.environments import Environment
from pgs.domain.errors import refuse
from pgs.domain.readiness import ADVICE, PAGES, AccountFacts, Gate, gates, is_ready, nearest_game
from pgs.http.account.callers import by_key, by_query
from pgs.http.admin.endpoints import admin_read
from pgs.http.api.endpoint import Answer, Endpoint
from pgs.http.api.hints import unknown_game
from pgs.http.api.lists import AccountCall
from pgs.storage.factors import admin_has_factor


class GateRecord(msgspec.Struct, frozen=True, rename="camel"):
    """One gate. `reason`: the code of the refusals that it causes now; absent if it causes none."""

    gate: str
    ok: bool
    reason: str | UnsetType = UNSET
    advice: str | UnsetType = UNSET
    change_it_at: str | UnsetType = UNSET


class Readiness(msgspec.Struct, frozen=True, rename="camel"):
    """Every gate that a seat at a game must pass, then gates that are only advice."""

    environment: str
    game_id: str
    ready: bool
    gates: list[GateRecord]


async def read_readiness(call: AccountCall, environment: Environment) -> Answer:
    """Return the gates of the game that the query names."""
    game_id = call.query.get("gameId", "")
    if not game_id:
        return refuse("missing_parameter", parameter="gameId")
    return await _readiness(call, environment, game_id)


async def read_nearest(call: AccountCall, environment: Environment) -> Answer:
    """Return the gates of the game in the query, or of `nearest_game` if the query names none."""
    games = call.services.parts.games
    named = call.query.get("gameId") or nearest_game(call.principal.account, environment, games)
    return await _readiness(call, environment, named)


async def _readiness(call: AccountCall, environment: Environment, game_id: str) -> Answer:
    parts = call.services.parts
    catalogue = parts.catalogue.published(trio.current_time())
    if catalogue is None:
        return refuse("settlement_unavailable")
    account = call.principal.account
    facts = AccountFacts(
        webhook_on=environment in account.webhook_on,
        factor_enrolled=await admin_has_factor(parts.database.reader, account.partner_id),
    )
    found = gates(account, environment, game_id, parts.games, catalogue, facts)
    portal = f"{call.services.base_url}/portal/{environment}"
    no_game = None if game_id in parts.games else unknown_game(game_id, parts.games).message
    records = [
        _without_game(gate, no_game)
        if no_game is not None and gate.name in _OF_THE_GAME
        else _record(gate, portal)
        for gate in found
    ]
    return Readiness(environment, game_id, is_ready(found), records)


def _without_game(gate: Gate, advice: str) -> GateRecord:
    """Return a gate that nobody can pass, because the platform does not run the game."""
    reason = gate.refusal.reason if gate.refusal else UNSET
    return GateRecord(gate.name, False, reason, advice)


def _record(gate: Gate, portal: str) -> GateRecord:
    if gate.ok:
        return GateRecord(gate.name, True)
    page = PAGES.get(gate.name)
    return GateRecord(
        gate.name,
        False,
        gate.refusal.reason if gate.refusal else UNSET,
        ADVICE[gate.name],
        f"{portal}/{page}" if page else UNSET,
    )


_OF_THE_GAME = frozenset({"game_licensed", "tier_on_offer"})
_QUERY = frozenset({"gameId"})
_ERRORS = ("missing_parameter", "settlement_unavailable")

ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/partner/readiness",
        handler=by_key(read_readiness),
        response=Readiness,
        query=_QUERY,
        errors=_ERRORS,
        summary="What the account still needs before a seat at a game",
    ),
    admin_read(
        "readiness",
        by_query(read_nearest),
        Readiness,
        "What the account still needs before a seat at a game",
        query=_QUERY | {"environment"},
        errors=_ERRORS,
    ),
)
