"""Checks of an admitted call before its handler: query, body, launch, fields."""

from typing import Any, TypeVar

import msgspec

from pgs.domain.accounts import check_licence
from pgs.domain.errors import BadRequest, Refusal
from pgs.domain.names import is_player_id
from pgs.http.api.body import convert, decode_object, plain_reader, unify_spellings
from pgs.http.api.endpoint import CallBy, Principal, Request
from pgs.http.api.hints import licence_refusal, missing_field, missing_key_in, player_refusal
from pgs.http.api.query import parse_query
from pgs.http.api.services import Services
from pgs.http.api.versioning import from_version

T = TypeVar("T", bound=msgspec.Struct)


def check(
    request: Request,
    principal: object,
    query_string: bytes,
    raw: bytes,
    *,
    licensed: bool = False,
) -> CallBy[object] | Refusal | BadRequest:
    """Return the call for its handler, or the first fault of query, launch and fields.

    With `licensed`, the account counts as licensed: the licence of the game is not checked.
    """
    endpoint = request.endpoint
    query: dict[str, str] = {}
    if query_string:
        parsed = parse_query(query_string, endpoint.query)
        if isinstance(parsed, BadRequest):
            return parsed
        query = parsed
    body: object = None
    if endpoint.request is not None and (raw or not endpoint.may_lack_body):
        body = _plain_body(request, endpoint.request, principal, raw)
        if body is None:
            body = _body(request, endpoint.request, principal, raw, licensed=licensed)
            if isinstance(body, (Refusal, BadRequest)):
                return body
    return CallBy(
        request.services,
        principal,
        request.path,
        query,
        body,
        request.request_id,
        request.headers,
    )


def _body(
    request: Request, kind: type[T], principal: object, raw: bytes, *, licensed: bool
) -> T | Refusal | BadRequest:
    """Return the body of a call as a `kind`, or the first fault of launch and fields."""
    endpoint, services = request.endpoint, request.services
    fields = decode_object(raw)
    if isinstance(fields, BadRequest):
        return fields
    fault: Refusal | BadRequest | None = from_version(
        fields, kind, version_of(principal, services), services.parts.versions
    )
    if fault is None and endpoint.launch and isinstance(principal, Principal):
        fault = _check_launch(request, principal, fields, licensed=licensed)
    if fault is None and endpoint.spellings:
        fault = unify_spellings(fields, endpoint.spellings)
    if fault is not None:
        return fault
    body = convert(fields, kind)
    if isinstance(body, BadRequest):
        lacks_key = body.message.startswith("Field `idempotencyKey` is required")
        hint = missing_key_in(request.headers) if lacks_key else ""
        return BadRequest(body.message + hint)
    return body


def _plain_body(request: Request, kind: type[T], principal: object, raw: bytes) -> T | None:
    """Return the body of a call if it is plain and has no fault; None if `_body` must judge it."""
    parts = request.services.parts
    body = None if parts.versions.renames else plain_reader(kind).read(raw)
    if body is None or not (request.endpoint.launch and isinstance(principal, Principal)):
        return body
    launch: Any = body  # every body of an endpoint with `launch` has a game and a player
    refusal = check_licence(
        principal.account, principal.key.environment, launch.game_id, parts.games
    )
    return body if refusal is None and is_player_id(launch.player_id) else None


def version_of(principal: object, services: Services) -> int:
    """Return the API version of a call. Callers without an API key have the current one."""
    return (
        principal.version if isinstance(principal, Principal) else services.parts.versions.current
    )


def _check_launch(
    request: Request, principal: Principal, body: dict[str, object], *, licensed: bool
) -> Refusal | BadRequest | None:
    """Return the first fault of a launch, or None. The licence is checked before the player id."""
    game_id = body.get("gameId")
    if not isinstance(game_id, str):
        return BadRequest(
            "Field `gameId` must be a string."
            if "gameId" in body
            else missing_field("gameId", body)
        )
    installed = request.services.parts.games
    refusal = licence_refusal(principal.account, principal.environment, game_id, installed)
    return (None if licensed else refusal) or player_refusal(body)
