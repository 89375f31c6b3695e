"""The checks that the calls of a launch share, before their own: the game's licence, then the player's id."""

from pgs.domain.accounts import check_licence
from pgs.domain.errors import BadRequest, Refusal, refuse
from pgs.domain.names import is_player_id
from pgs.http.api.endpoint import Principal
from pgs.http.api.services import Services


def check_game(services: Services, principal: Principal, game_id: str) -> Refusal | None:
    """Return why the game cannot be launched with this key, or None."""
    return check_licence(principal.account, principal.environment, game_id, services.parts.games)


def check_launch(
    services: Services, principal: Principal, body: dict[str, object]
) -> Refusal | BadRequest | None:
    """Return the first fault of a body's game and player, or None."""
    game_id = body.get("gameId")
    if not isinstance(game_id, str):
        return BadRequest(
            "Field `gameId` must be a string."
            if "gameId" in body
            else "Field `gameId` is required."
        )
    refusal = check_game(services, principal, game_id)
    if refusal is not None:
        return refusal
    player_id = body.get("playerId")
    if not isinstance(player_id, str) or not is_player_id(player_id):
        return refuse("malformed_player_id")
    return None


def unify_spellings(body: dict[str, object], spellings: dict[str, str]) -> BadRequest | None:
    """Put accepted other spellings of fields under their own names; two spellings with different values are refused."""
    for other, name in spellings.items():
        if other not in body:
            continue
        value = body.pop(other)
        if name not in body:
            body[name] = value
        elif (type(body[name]), body[name]) != (type(value), value):
            return BadRequest(
                f"Fields `{name}` and `{other}` are two spellings of one field and must agree."
            )
    return None
