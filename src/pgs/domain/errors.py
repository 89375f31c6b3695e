"""The error catalogue: every reason for which a call is refused, in one table.

The refusals of a move are in `play.py`.

A refusal is a value: rules and actors return a `Refusal` (or a `BadRequest`, which has no reason
code), and only the HTTP layer turns it into a response. The reasons, their statuses and their extra
fields are the contract with partners. Rows may be added and messages reworded, but within a version
a reason never changes its meaning or its status.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import msgspec

Extra = int | str | None


class Refusal(msgspec.Struct, frozen=True):
    """An expected refusal. Use `refuse` to make one that is checked against the catalogue.

    `extras`: additional body fields, named as on the wire. `message`: a sentence for this case, in
    place of the catalogue's. `corrected`: fields of the body with which the call would be accepted.
    They are no part of the answer; only the account's live stream shows them.
    """

    reason: str
    extras: Mapping[str, Extra] = {}
    message: str | None = None
    corrected: Mapping[str, Extra] = {}

    def saying(self, message: str) -> "Refusal":
        """Return the same refusal with `message` in place of the catalogue's sentence."""
        return Refusal(self.reason, self.extras, message, self.corrected)


class BadRequest(msgspec.Struct, frozen=True):
    """A 400 without a reason code, for a malformed call. `message` names the field or parameter."""

    message: str


class ErrorKind(msgspec.Struct, frozen=True):
    """A row of the catalogue.

    `extras`: the additional fields that the body may carry. `optional`: those of them that may be
    missing. `elsewhere`: a second status; the comment beside the row says where it applies.
    """

    reason: str
    status: int
    message: str
    extras: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    elsewhere: int | None = None


_SEAT: Final = (
    "seatId matchId status stakeStatus environment gameId tierId playerId stakeUsdCents "
    "prizeUsdCents seatedAt expiresAt idempotencyKey partnerRef"
)
_SEAT_FIELDS: Final = tuple(_SEAT.split(" "))

_ROWS: Final = (
    # Key-authenticated calls
    ErrorKind(
        "invalid_key",
        401,
        "This is not an active API key. It may have been revoked, or belong to another deployment.",
    ),
    ErrorKind(
        "rate_limited",
        429,
        "Too many requests. Wait for the seconds in Retry-After, then slow down.",
    ),
    ErrorKind(
        "partner_inactive", 403, "This account is switched off. One of its admins can switch it on."
    ),
    ErrorKind(
        "unsupported_api_version",
        400,
        "This API version is not served. Send a served version as a bare integer.",
    ),
    ErrorKind(
        "test_key_against_live",
        403,
        "This deployment serves the live environment only. Use a live key.",
    ),
    ErrorKind(
        "live_key_against_test",
        403,
        "This deployment serves the test environment only. Use a test key.",
    ),
    ErrorKind(
        "game_not_licensed",
        403,
        "This account has no licence for the game. Turn it on for test first.",
    ),
    ErrorKind(
        "game_not_licensed_in_this_environment",
        403,
        "The game is licensed in the other environment only. "
        "Turn it on for test, or request live access.",
    ),
    ErrorKind(
        "malformed_player_id",
        400,
        "playerId must be a string of 1 to 64 letters, digits, underscores and hyphens.",
    ),
    # The status is 500 for calls with an API key or an identity token, 503 on the Game API.
    ErrorKind(
        "registry_unavailable",
        500,
        "The service cannot read its own data at the moment. Try again shortly.",
        elsewhere=503,
    ),
    ErrorKind("test_key_required", 403, "This call works with a test key only."),
    # Seating, seats and matches
    ErrorKind("unknown_tier", 400, "No such tier in this environment. Read the tier list again."),
    ErrorKind(
        "stake_below_floor", 400, "The stake is below this tier's floor.", ("floorUsdCents",)
    ),
    ErrorKind(
        "stake_does_not_match_price",
        400,
        "The stake is not the price set for this tier.",
        ("expectedUsdCents",),
    ),
    ErrorKind(
        "stake_above_prize",
        400,
        "The stake is above this tier's prize. Amounts are in cents.",
        ("ceilingUsdCents",),
    ),
    ErrorKind(
        "tier_locked", 409, "This tier is not offered for the game. Choose one from the tier list."
    ),
    ErrorKind(
        "rake_terms_not_agreed",
        403,
        "No rake terms are agreed. An admin of the account has to agree to them.",
    ),
    ErrorKind(
        "idempotency_key_conflict",
        409,
        "This idempotencyKey was already used with another player, game, tier or stake.",
    ),
    ErrorKind(
        "settlement_unavailable",
        503,
        "Settlement cannot answer at the moment. "
        "Retry; when seating, with the same idempotencyKey.",
    ),
    ErrorKind(
        "stake_declined",
        402,
        "The stake was declined. Nobody was charged.",
        _SEAT_FIELDS,
        _SEAT_FIELDS,
    ),
    ErrorKind("seat_not_found", 404, "No such seat in this environment."),
    ErrorKind(
        "seat_not_waiting",
        409,
        "Only a seat that waits for an opponent can be cancelled.",
        ("status",),
    ),
    ErrorKind("match_not_found", 404, "No such match in this environment."),
    ErrorKind("match_already_decided", 409, "This match already has another result."),
    ErrorKind(
        "cross_environment_join",
        403,
        "This match belongs to the other environment. Use a token of that environment.",
    ),
    # Lists, ranges and invoices
    ErrorKind(
        "invalid_cursor",
        400,
        "This cursor was not issued here. Send one back exactly as received, or leave it out.",
    ),
    ErrorKind("missing_parameter", 400, "A required query parameter is missing.", ("parameter",)),
    # The interface does not promise `parameter`. The service always sends it.
    ErrorKind(
        "malformed_day",
        400,
        "A day must be a real UTC date, written yyyymmdd.",
        ("parameter",),
        ("parameter",),
    ),
    ErrorKind("range_backwards", 400, "The range ends before it starts."),
    ErrorKind(
        "range_too_wide",
        400,
        "The range has too many days for one call. Split it.",
        ("maxRangeDays",),
    ),
    # If an account has no final day yet, `latestDay` is missing.
    ErrorKind(
        "day_not_final",
        400,
        "The range ends after the newest final day. End it there or earlier.",
        ("latestDay",),
        ("latestDay",),
    ),
    ErrorKind(
        "range_too_expensive",
        400,
        "The range covers too many seats for one call. Ask for a shorter one.",
    ),
    ErrorKind("invoice_not_found", 404, "No such invoice in this environment."),
    ErrorKind("invoice_status_invalid", 400, "No such invoice status. Leave it out, or send all."),
    ErrorKind(
        "invoice_not_readable", 409, "This invoice is still being put together. Try again later."
    ),
    # Theme
    ErrorKind("logo_unsupported_type", 422, "The logo must be a PNG or a WebP image."),
    ErrorKind(
        "logo_malformed", 422, "The logo is not valid base64. Send it raw, without a data: prefix."
    ),
    ErrorKind("logo_too_large", 422, "The logo file is too large.", ("maxBytes",)),
    ErrorKind(
        "logo_not_that_image", 422, "The logo is not a readable image of the type that mime names."
    ),
    ErrorKind(
        "live_theme_not_writable",
        403,
        "A key cannot write the live theme. Change it in the portal.",
        ("changeItAt",),
    ),
    ErrorKind(
        "theme_field_invalid", 422, "A theme field has a value that it cannot take.", ("parameter",)
    ),
    # Sign-in, roles and step-up
    ErrorKind(
        "sign_in_required",
        401,
        "Sign in again: the identity token is missing, expired or not valid.",
    ),
    ErrorKind("not_a_partner_admin", 403, "This user is not a member of any account."),
    ErrorKind("role_forbidden", 403, "Your role does not allow this."),
    # 403 where a call requires the second factor, 409 where a code is verified.
    ErrorKind("totp_not_enrolled", 403, "Enrol an authenticator app first.", elsewhere=409),
    ErrorKind("step_up_required", 403, "Confirm with a code from your authenticator app first."),
    ErrorKind(
        "fresh_step_up_required",
        403,
        "Confirm with a new code from your authenticator app: the last one is too long ago.",
    ),
    ErrorKind("step_up_locked", 429, "Too many wrong codes. Wait for the seconds in Retry-After."),
    ErrorKind(
        "invalid_code",
        403,
        "This code is not valid. Enter the one that your authenticator app shows now.",
    ),
    # Account, keys, origins, prices
    ErrorKind(
        "partner_changed",
        409,
        "Somebody else changed this in the meantime. Read it again, then retry.",
    ),
    ErrorKind("account_active", 409, "The account is already switched on."),
    ErrorKind("account_inactive", 409, "The account is already switched off."),
    ErrorKind("terms_already_agreed", 409, "These terms are already agreed."),
    ErrorKind("label_required", 400, "A new key needs a label."),
    ErrorKind("key_not_found", 404, "No such key in this account."),
    ErrorKind("key_not_active", 409, "This key is revoked or about to be. Rotate an active one."),
    ErrorKind(
        "invalid_origin",
        400,
        "Not a web origin for this environment. "
        "Send scheme://host or scheme://host:port, without a path.",
    ),
    ErrorKind(
        "too_many_origins",
        400,
        "This environment has as many origins as it can hold. Remove one first.",
    ),
    ErrorKind("origin_not_found", 404, "This origin is not registered in this environment."),
    ErrorKind("below_floor", 400, "The price is below this tier's floor.", ("floorUsdCents",)),
    ErrorKind("invalid_domain", 400, "Not a valid domain name."),
    ErrorKind("domain_already_set", 409, "The admin domain is already set. It can be set once."),
    # Members and invites
    ErrorKind("member_not_found", 404, "No such member in this account."),
    ErrorKind("last_admin", 409, "The account would be left without an admin."),
    ErrorKind("invite_not_found", 404, "No such invite."),
    ErrorKind("already_accepted", 409, "This invite was already accepted."),
    ErrorKind("wrong_address", 403, "This invite is addressed to another e-mail address."),
    ErrorKind("expired", 403, "This invite has expired. Ask for a new one."),
    ErrorKind(
        "already_administers_another_partner",
        409,
        "This user is already a member of another account.",
    ),
    ErrorKind("already_a_member", 409, "This user is already a member of the account."),
    ErrorKind("invalid_email", 400, "Not a valid e-mail address."),
    ErrorKind("address_outside_domain", 400, "This address lies outside the account's domain."),
    # Webhooks
    ErrorKind(
        "invalid_webhook_url",
        400,
        "Not a webhook address. Send an https URL with a public host name.",
    ),
    ErrorKind("webhook_not_configured", 404, "This environment has no webhook."),
    ErrorKind(
        "webhook_not_enabled",
        409,
        "This webhook is switched off. Save its URL again to switch it on.",
    ),
    ErrorKind(
        "test_event_too_soon",
        429,
        "A test event was just sent. Wait for the seconds in Retry-After.",
    ),
    ErrorKind("attempt_not_found", 404, "No such attempt in this environment's log."),
    # Game licences
    ErrorKind("unknown_game", 400, "The platform runs no such game."),
    ErrorKind(
        "not_licensed_in_test", 409, "Turn the game on for test before requesting live access."
    ),
    ErrorKind("already_live", 409, "The game is already live."),
)

ERRORS: Final[Mapping[str, ErrorKind]] = MappingProxyType({row.reason: row for row in _ROWS})


def refuse(reason: str, **extras: Extra) -> Refusal:
    """Return the refusal, checked against its row; `extras` are body fields, named as on the wire.

    Raises `KeyError` for an unknown reason, and `TypeError` for a field that the row does not name
    or a required field that is missing. These are bugs of the caller.
    """
    kind = ERRORS[reason]
    unknown = extras.keys() - set(kind.extras)
    missing = set(kind.extras) - set(kind.optional) - extras.keys()
    if unknown or missing:
        raise TypeError(
            f"{reason} takes {kind.extras}; unknown: {sorted(unknown)}, missing: {sorted(missing)}"
        )
    return Refusal(reason, extras)


def message_of(refusal: Refusal) -> str:
    """Return a refusal's human-readable message, the body's `error`.

    Raises `KeyError` for an unknown reason.
    """
    return refusal.message or ERRORS[refusal.reason].message
