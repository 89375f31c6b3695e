"""Sentences that tell people how a refused call should have been made.

They change neither the status nor the reason of a refusal. They repeat a client's text only if it
looks like the name of a field.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from pgs.domain import sessions
from pgs.domain.accounts import Account, check_licence
from pgs.domain.environments import Environment
from pgs.domain.errors import Extra, Refusal, refuse
from pgs.domain.keys import KEY_LENGTH, KEY_MARKS
from pgs.domain.names import is_player_id
from pgs.domain.plurals import counted
from pgs.domain.secrets import SIGNING_MARK
from pgs.domain.suggestions import LIKENESS_NAMES, closest
from pgs.http.transport.asgi import Headers

FIELD_NAME: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9_-]{0,31}", re.ASCII)
"""A name of a field as a client may have spelt it, safe to repeat in a message."""

_KINDS: Final = {
    "mat_": "a match",
    "sea_": "a seat",
    "inv_": "an invoice",
    "lin_": "a line of an invoice",
    "key_": "an API key's record",
    "ivt_": "an invite",
}
_EXPECTED: Final = {
    "match_not_found": "mat_",
    "seat_not_found": "sea_",
    "invoice_not_found": "inv_",
    "key_not_found": "key_",
    "invite_not_found": "ivt_",
}
_WITH_FIELDS: Final = {
    "stake_below_floor": "The stake is below this tier's floor of {floorUsdCents}. "
    "Amounts are in cents: 5 dollars are 500.",
    "below_floor": "The price is below this tier's floor of {floorUsdCents}. "
    "Amounts are in cents: 5 dollars are 500.",
    "stake_does_not_match_price": (
        "The stake is not the price that is set for this tier: {expectedUsdCents}."
    ),
    "stake_above_prize": (
        "The stake is above this tier's prize of {ceilingUsdCents}. Amounts are in cents."
    ),
    "missing_parameter": "The query parameter `{parameter}` is required.",
    "malformed_day": (
        "The query parameter `{parameter}` must be a real UTC date, written yyyymmdd."
    ),
    "range_too_wide": "One call answers at most {maxRangeDays} days. Split the range.",
    "day_not_final": (
        "The range ends after the newest final day, {latestDay}. End it there or earlier."
    ),
    "seat_not_waiting": (
        "Only a seat that waits for an opponent can be cancelled. This one is {status}."
    ),
    "logo_too_large": "The logo file may have at most {maxBytes} bytes.",
    "live_theme_not_writable": "A key cannot write the live theme. Change it at {changeItAt}.",
}


def explained(refusal: Refusal, path: Mapping[str, str], query_string: bytes) -> Refusal:
    """Return a refusal whose message names the numbers, ids or parameters that it is about."""
    if refusal.message is not None:
        return refusal
    wanted = _EXPECTED.get(refusal.reason)
    if wanted is not None:
        given = next((value[:4] for value in path.values() if value[:4] in _KINDS), wanted)
        if given == wanted or wanted in (value[:4] for value in path.values()):
            return refusal
        return refusal.saying(
            f"This is the id of {_KINDS[given]}. The id of {_KINDS[wanted]} begins with {wanted}"
        )
    template = _WITH_FIELDS.get(refusal.reason)
    if template is None or any(value is None for value in refusal.extras.values()):
        return refusal
    try:
        message = template.format_map({**refusal.extras, **_in_cents(refusal.extras)})
    except KeyError:  # an optional field is missing
        return refusal
    if refusal.reason == "missing_parameter":
        message += _instead(str(refusal.extras["parameter"]), _names(query_string), "The query")
    return refusal.saying(message)


def _in_cents(extras: Mapping[str, Extra]) -> dict[str, str]:
    """Return the amounts among a refusal's fields, with their unit."""
    return {
        name: counted(value, "cent")
        for name, value in extras.items()
        if name.endswith("UsdCents") and isinstance(value, int)
    }


def missing_field(name: str, given: Iterable[str]) -> str:
    """Return the sentence for a missing field.

    If a field in `given` has a similar name, the sentence asks whether the missing one was meant.
    """
    return f"Field `{name}` is required.{_instead(name, given, 'The body')}"


def _instead(name: str, given: Iterable[str], place: str) -> str:
    alike = closest(name, [other for other in given if FIELD_NAME.fullmatch(other)])
    if alike is None or alike == name:
        return ""
    return f" {place} has `{alike}`, which is not read: did you mean `{name}`?"


def _names(query_string: bytes) -> list[str]:
    pairs = query_string.split(b"&", LIKENESS_NAMES)[:LIKENESS_NAMES]
    return [pair.partition(b"=")[0].decode("ascii", "replace") for pair in pairs]


def licence_refusal(
    account: Account, environment: Environment, game_id: str, installed: Collection[str]
) -> Refusal | None:
    """Return why a game cannot be launched, or None. If the game is unknown, list all games."""
    refusal = check_licence(account, environment, game_id, installed)
    if refusal is not None and game_id not in installed:
        return refusal.saying(_unknown_game(game_id, installed))
    return refusal


def unknown_game(game_id: str, installed: Collection[str]) -> Refusal:
    """Return the refusal of an unknown game, with a list of the games that the platform runs."""
    return refuse("unknown_game").saying(_unknown_game(game_id, installed))


def _unknown_game(game_id: str, installed: Collection[str]) -> str:
    games = sorted(installed)
    alike = closest(game_id, games)
    meant = f" Did you mean {alike}?" if alike else ""
    return f"The platform runs no such game.{meant} It runs: {', '.join(games)}."


def player_refusal(body: Mapping[str, object]) -> Refusal | None:
    """Return the refusal of a body's `playerId`, or None."""
    player_id = body.get("playerId")
    if isinstance(player_id, str) and is_player_id(player_id):
        return None
    refusal = refuse("malformed_player_id")
    if "playerId" not in body:
        return refusal.saying(missing_field("playerId", body))
    if not isinstance(player_id, str):
        return refusal.saying("Field `playerId` must be a string: put the id in quotes.")
    if not player_id:
        return refusal.saying("Field `playerId` is empty.")
    return refusal


def missing_key_in(headers: Headers) -> str:
    """Return a hint for a call that has its idempotency key in a header, else ''."""
    if any(name == b"idempotency-key" for name, _ in headers):
        return (
            " The header Idempotency-Key is not read: send its value as the field `idempotencyKey`."
        )
    return ""


def invalid_key(headers: Headers) -> Refusal:
    """Return the refusal of a call without a well-formed key. It says what the call has instead."""
    return refuse("invalid_key").saying(_no_key(headers))


_AROUND_A_KEY: Final = b"\"'<>[]{}`"
"""What people copy along with a key: quotes, and the brackets of an example."""

_KEY_MARKS: Final = tuple(mark.encode() for mark in KEY_MARKS)
_SEND: Final = "Send the header `Authorization: Bearer <API key>`."


def _no_key(headers: Headers) -> str:
    given = [value.strip() for name, value in headers if name == b"authorization"]
    if not given:
        others = [name for name, _ in headers if name in (b"x-api-key", b"api-key")]
        other = others[0] if others else None
        if other is None:
            return f"The call has no API key. {_SEND}"
        return f"The header {other.decode()} is not read. {_SEND}"
    if len(given) > 1:
        return "The header Authorization came more than once. Send it once."
    scheme, _, rest = given[0].partition(b" ")
    credential = rest.strip()
    if scheme.lower() == b"basic":
        return f"The key was sent with Basic authentication, which is not taken. {_SEND}"
    if scheme.startswith(_KEY_MARKS):
        return f"The word Bearer is missing before the key. {_SEND}"
    if scheme.lower() != b"bearer":
        return f"The header Authorization has another scheme than Bearer. {_SEND}"
    return _bad_credential(credential)


def _bad_credential(credential: bytes) -> str:
    if not credential:
        return f"The key after Bearer is empty. {_SEND}"
    for prefix, kind in (
        (
            f"{sessions.FORMAT}.".encode(),
            "This is a player's session token. It belongs to the Game API, under /game/.",
        ),
        (b"eyJ", "This is an identity token. It belongs to the admin API, under /partner/admin/."),
        (SIGNING_MARK.encode(), "This is a webhook's signing secret. It authenticates no call."),
        (b"key_", "This is the id of a key's record, not the key."),
    ):
        if credential.startswith(prefix):
            return f"{kind} {_SEND}"
    if credential.strip(_AROUND_A_KEY) != credential:
        return f"The key stands in quotes or brackets. Send it without them. {_SEND}"
    if not credential.startswith(_KEY_MARKS):
        return "This is no API key of this service: a key begins with pgs_test_ or pgs_live_."
    length, whole = len(credential), KEY_LENGTH
    if length != whole:
        return (
            f"The key has {counted(length, 'character')} instead of {whole}: a part of it is "
            "missing, or something was added."
        )
    return "The key is mistyped: its last six characters, the checksum, do not fit the others."


def sign_in_refusal(headers: Headers) -> Refusal:
    """Return the refusal of a call to the admin API that carries no valid identity token."""
    refusal = refuse("sign_in_required")
    given = [value for name, value in headers if name == b"authorization"]
    if not given:
        return refusal.saying(
            "The call has no identity token. Send the header `Authorization: Bearer <token>`, with "
            "a token of the identity provider for a signed-in member."
        )
    if any(part.startswith(_KEY_MARKS) for part in given[0].split()):
        return refusal.saying(
            "An API key is not taken here: a signed-in member's identity token is needed. Calls "
            "with a key are under /partner/, without admin/."
        )
    return refusal


def no_browser(headers: Headers) -> str:
    """Return a hint for a refused method if the call is a browser's preflight, else ''."""
    if any(name == b"access-control-request-method" for name, _ in headers):
        return (
            " A page in a browser cannot make this call: API keys belong on servers, and anybody "
            "who reads one can act for all players. Call from your backend."
        )
    return ""
