"""The errors of the client: one type for each reason code, below one type for each status."""

from collections.abc import Mapping
from typing import Any, ClassVar

from pgs_client.records import Answer, Seat


class PgsError(Exception):
    """Any failure of a call. `may_pass` tells whether the same call may succeed later."""

    may_pass: bool = False
    retry_after_s: float | None = None


class NoAnswer(PgsError):
    """No whole answer came, so the call may have been carried out. `__cause__` says what happened.

    Repeat a seat with the same idempotency key: the player is charged once.
    """

    may_pass = True


class UnexpectedAnswer(PgsError):
    """An answer came that the service does not give to this call.

    For example a redirect, a proxy's page, or the answer to another call.
    """

    def __init__(self, message: str, *, may_pass: bool) -> None:
        super().__init__(message)
        self.may_pass = may_pass


class ServiceError(PgsError):
    """The service refused a call. Branch on the type, or on `reason`; `message` may be reworded.

    `fields` holds the JSON object of the answer. `reason` is None if the error has no code.
    `request_id` names the call in the log of the service. `answer` is the whole answer.
    """

    code: ClassVar[str] = ""
    answer: Answer | None = None

    def __init_subclass__(cls, *, code: str = "") -> None:
        super().__init_subclass__()
        cls.code = code

    def __init__(
        self,
        status: int,
        fields: Mapping[str, Any],
        request_id: str | None = None,
        retry_after_s: float | None = None,
    ) -> None:
        reason, message = fields.get("reason"), fields.get("error")
        self.status = status
        self.fields = fields
        self.reason = reason if isinstance(reason, str) else None
        self.message = message if isinstance(message, str) else ""
        self.request_id = request_id
        self.retry_after_s = retry_after_s
        self.may_pass = status in (408, 429) or status >= 500
        said = " ".join(part for part in (self.reason, self.message) if part)
        super().__init__(f"{status} {said}".strip())


class BadRequest(ServiceError):
    """400: the call itself is wrong; repeating it does not help."""


class Unauthorized(ServiceError):
    """401: the key is not accepted."""


class PaymentRequired(ServiceError):
    """402: the stake was not paid."""


class Forbidden(ServiceError):
    """403: the account or the key may not do this."""


class NotFound(ServiceError):
    """404: there is no such thing for this key."""


class Conflict(ServiceError):
    """409: the call conflicts with the state of a seat, a match, a tier or an invoice."""


class Unprocessable(ServiceError):
    """422: a value was understood but is not allowed."""


class TooManyRequests(ServiceError):
    """429: too many calls. `retry_after_s` tells how long to wait."""


class ServerFailure(ServiceError):
    """5xx: the service failed. The same call may succeed later."""


class InvalidKey(Unauthorized, code="invalid_key"):
    """The key is unknown, malformed or revoked."""


class PartnerInactive(Forbidden, code="partner_inactive"):
    """The account is switched off."""


class UnsupportedApiVersion(BadRequest, code="unsupported_api_version"):
    """The service no longer serves the version that this client speaks."""


class TestKeyAgainstLive(Forbidden, code="test_key_against_live"):
    """A test key was used at a deployment that serves only live."""

    __test__ = False  # pytest would run a class with this name as a test


class LiveKeyAgainstTest(Forbidden, code="live_key_against_test"):
    """A live key was used at a deployment that serves only test."""


class TestKeyRequired(Forbidden, code="test_key_required"):
    """The call works with a test key only."""

    __test__ = False


class GameNotLicensed(Forbidden, code="game_not_licensed"):
    """The account may not use the game."""


class GameNotLicensedInThisEnvironment(Forbidden, code="game_not_licensed_in_this_environment"):
    """The account may use the game in the other environment only."""


class MalformedPlayerId(BadRequest, code="malformed_player_id"):
    """The player id has characters or a length that are not allowed."""


class RateLimited(TooManyRequests, code="rate_limited"):
    """The account, or the service as a whole, gets too many calls at the moment."""


class RegistryUnavailable(ServerFailure, code="registry_unavailable"):
    """The service cannot read its own data."""


class SettlementUnavailable(ServerFailure, code="settlement_unavailable"):
    """Settlement gave no answer, or the service cannot read its own data. A seat may exist."""


class UnknownTier(BadRequest, code="unknown_tier"):
    """There is no such tier in this environment."""


class TierLocked(Conflict, code="tier_locked"):
    """The tier is not offered for the game."""


class RakeTermsNotAgreed(Forbidden, code="rake_terms_not_agreed"):
    """No rake terms are agreed: an admin of the account has to agree to them."""


class StakeBelowFloor(BadRequest, code="stake_below_floor"):
    """The stake is lower than `fields["floorUsdCents"]`."""


class StakeAbovePrize(BadRequest, code="stake_above_prize"):
    """The stake is higher than `fields["ceilingUsdCents"]`."""


class StakeDoesNotMatchPrice(BadRequest, code="stake_does_not_match_price"):
    """The stake is not `fields["expectedUsdCents"]`, the price that the account has set."""


class IdempotencyKeyConflict(Conflict, code="idempotency_key_conflict"):
    """The idempotency key belongs to another purchase."""


class StakeDeclined(PaymentRequired, code="stake_declined"):
    """The stake was declined, and nobody was charged."""

    @property
    def seat(self) -> Seat:
        """The declined seat."""
        return Seat.read(self.fields)


class SeatNotFound(NotFound, code="seat_not_found"):
    """There is no such seat in this environment."""


class SeatNotWaiting(Conflict, code="seat_not_waiting"):
    """The seat does not wait for an opponent. `fields["status"]` is its status."""


class MatchNotFound(NotFound, code="match_not_found"):
    """There is no such match in this environment."""


class MatchAlreadyDecided(Conflict, code="match_already_decided"):
    """The match has ended with another result."""


class InvalidCursor(BadRequest, code="invalid_cursor"):
    """The cursor was not issued to this account in this environment, or is ahead of the feed."""


class MissingParameter(BadRequest, code="missing_parameter"):
    """The query parameter `fields["parameter"]` is missing."""


class MalformedDay(BadRequest, code="malformed_day"):
    """A day is not a real date, written yyyymmdd."""


class RangeBackwards(BadRequest, code="range_backwards"):
    """The range ends before it starts."""


class RangeTooWide(BadRequest, code="range_too_wide"):
    """The range has more than `fields["maxRangeDays"]` days."""


class RangeTooExpensive(BadRequest, code="range_too_expensive"):
    """The range covers too many seats, or rows of the feed, for one call."""


class DayNotFinal(BadRequest, code="day_not_final"):
    """The range ends after `fields["latestDay"]`, the newest final day.

    The figures of a final day never change. Those of later days still may.
    """


class InvoiceNotFound(NotFound, code="invoice_not_found"):
    """There is no such invoice in this environment."""


class InvoiceStatusInvalid(BadRequest, code="invoice_status_invalid"):
    """The filter names no status of an invoice."""


class InvoiceNotReadable(Conflict, code="invoice_not_readable"):
    """The invoice is a draft, so its total is not known yet."""


class LiveThemeNotWritable(Forbidden, code="live_theme_not_writable"):
    """A live key cannot write a theme. `fields["changeItAt"]` tells where a person can."""


class ThemeFieldInvalid(Unprocessable, code="theme_field_invalid"):
    """The theme's field `fields["parameter"]` has a value that is not allowed."""


class LogoUnsupportedType(Unprocessable, code="logo_unsupported_type"):
    """The logo is neither a PNG nor a WebP."""


class LogoMalformed(Unprocessable, code="logo_malformed"):
    """The logo is not valid base64."""


class LogoTooLarge(Unprocessable, code="logo_too_large"):
    """The logo has more than `fields["maxBytes"]` bytes."""


class LogoNotThatImage(Unprocessable, code="logo_not_that_image"):
    """The logo is not an image of the type that it claims."""


_BY_STATUS: Mapping[int, type[ServiceError]] = {
    400: BadRequest,
    401: Unauthorized,
    402: PaymentRequired,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    422: Unprocessable,
    429: TooManyRequests,
}

_GENERAL: tuple[type[ServiceError], ...] = (*_BY_STATUS.values(), ServerFailure)

BY_CODE: Mapping[str, type[ServiceError]] = {
    coded.code: coded for general in _GENERAL for coded in general.__subclasses__()
}
"""The type of each reason code that this release knows."""


def service_error(
    status: int,
    fields: Mapping[str, Any],
    request_id: str | None = None,
    retry_after_s: float | None = None,
) -> ServiceError:
    """Return the error of an answer: by its code, or for an unknown code by its status."""
    general = ServerFailure if status >= 500 else _BY_STATUS.get(status, ServiceError)
    reason = fields.get("reason")
    coded = BY_CODE.get(reason) if isinstance(reason, str) else None
    kind = coded if coded is not None and issubclass(coded, general) else general
    return kind(status, fields, request_id, retry_after_s)
