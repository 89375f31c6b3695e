"""Checks of an admitted call before its handler: query, body, launch, fields."""

from pgs.domain.errors import BadRequest, Refusal
from pgs.http.api.body import convert, decode_object, unify_spellings
from pgs.http.api.endpoint import CallBy, Principal, Request
from pgs.http.api.hints import licence_refusal, missing_field, missing_key_in, player_refusal
from pgs.http.api.query import parse_query
from pgs.http.api.services import Services
from pgs.http.api.versioning import from_version


def check(
    request: Request,
    principal: object,
    query_string: bytes,
    raw: bytes,
    *,
    licensed: bool = False,
) -> CallBy[object] | Refusal | BadRequest:
    """Return the call for its handler, or the first fault of query, launch and fields.

    `licensed`: do not check the licence of the game.
    """
    endpoint = request.endpoint
    query = parse_query(query_string, endpoint.query)
    if isinstance(query, BadRequest):
        return query
    body: object = None
    if endpoint.request is not None and (raw or not endpoint.may_lack_body):
        fields = decode_object(raw)
        if isinstance(fields, BadRequest):
            return fields
        fault: Refusal | BadRequest | None = from_version(
            fields,
            endpoint.request,
            version_of(principal, request.services),
            request.services.parts.versions,
        )
        if fault is None and endpoint.launch and isinstance(principal, Principal):
            fault = _check_launch(request, principal, fields, licensed=licensed)
        if fault is None and endpoint.spellings:
            fault = unify_spellings(fields, endpoint.spellings)
        if fault is not None:
            return fault
        body = convert(fields, endpoint.request)
        if isinstance(body, BadRequest):
            lacks_key = body.message.startswith("Field `idempotencyKey` is required")
            hint = missing_key_in(request.headers) if lacks_key else ""
            return BadRequest(body.message + hint)
    return CallBy(
        request.services,
        principal,
        request.path,
        query,
        body,
        request.request_id,
        request.headers,
    )


def version_of(principal: object, services: Services) -> int:
    """Return the version that answers. Callers without an API key have the current one."""
    return (
        principal.version if isinstance(principal, Principal) else services.parts.versions.current
    )


def _check_launch(
    request: Request, principal: Principal, body: dict[str, object], *, licensed: bool
) -> Refusal | BadRequest | None:
    """Return the first fault of a launch, or None. The licence comes before the player's id."""
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
