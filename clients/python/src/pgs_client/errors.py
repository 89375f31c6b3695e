"""The errors of the client: one type for each reason code, below one type for each status."""

from collections.abc import Mapping
from typing import Any, ClassVar

from pgs_client.records import Answer, Seat


class PgsError(Exception):
    """Any failure of a call. `may_pass` tells whether the same call may succeed later."""

    may_pass: bool = False
    retry_after_s: float | None = None


class NoAnswer(PgsError):
    """No answer came, so the call may have been carried out. `__cause__` says what happened.

    Repeat a seat with the same idempotency key: the player is charged once.
    """

    may_pass = True


class UnexpectedAnswer(PgsError):
    """An answer came that the service does not give, such as a redirect or a proxy's page."""

    def __init__(self, message: str, *, may_pass: bool) -> None:
        super().__init__(message)
        self.may_pass = may_pass


class ServiceError(PgsError):
    """The service refused a call. Branch on the type, or on `reason`; `message` may be reworded.

    `fields` holds the body as it was sent, `reason` is None if the error has no code, and
    `request_id` names the call in the log of the service. `answer` is the whole answer.
    """

    code: ClassVar[str] = ""
    answer: Answer | None = None

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
    """400: the call is wrong as it is."""


class Unauthorized(ServiceError):
    """401: the key is not accepted."""


class PaymentRequired(ServiceError):
    """402: the stake was not paid."""


class Forbidden(ServiceError):
    """403: the account or the key may not do this."""


class NotFound(ServiceError):
    """404: there is no such thing for this key."""


class Conflict(ServiceError):
    """409: the state of a seat, a match or an invoice does not allow this."""


class Unprocessable(ServiceError):
    """422: a value was understood and cannot be taken."""


class TooManyRequests(ServiceError):
    """429: too many calls. `retry_after_s` tells how long to wait."""


class ServerFailure(ServiceError):
    """5xx: the service failed. The same call may succeed later."""


class InvalidKey(Unauthorized):
    """The key is unknown, malformed or revoked."""

    code = "invalid_key"


class PartnerInactive(Forbidden):
    """The account is switched off."""

    code = "partner_inactive"


class UnsupportedApiVersion(BadRequest):
    """The service no longer serves the version that this client speaks."""

    code = "unsupported_api_version"


class TestKeyAgainstLive(Forbidden):
    """A test key was used at a deployment for live alone."""

    __test__ = False  # pytest takes a class with this name for a test
    code = "test_key_against_live"


class LiveKeyAgainstTest(Forbidden):
    """A live key was used at a deployment for test alone."""

    code = "live_key_against_test"


class TestKeyRequired(Forbidden):
    """The call works with a test key only."""

    __test__ = False
    code = "test_key_required"


class GameNotLicensed(Forbidden):
    """The account may not use the game."""

    code = "game_not_licensed"


class GameNotLicensedInThisEnvironment(Forbidden):
    """The account may use the game in the other environment only."""

    code = "game_not_licensed_in_this_environment"


class MalformedPlayerId(BadRequest):
    """The player id has characters or a length that are not allowed."""

    code = "malformed_player_id"


class RateLimited(TooManyRequests):
    """The account or the process has used up its calls."""

    code = "rate_limited"


class RegistryUnavailable(ServerFailure):
    """The service cannot read its own data."""

    code = "registry_unavailable"


class SettlementUnavailable(ServerFailure):
    """The stake could not be settled, or a store cannot be read. A seat may exist."""

    code = "settlement_unavailable"


class UnknownTier(BadRequest):
    """There is no such tier in this environment."""

    code = "unknown_tier"


class TierLocked(Conflict):
    """The tier is not offered for the game."""

    code = "tier_locked"


class RakeTermsNotAgreed(Forbidden):
    """An admin of the account has not agreed to the rake terms."""

    code = "rake_terms_not_agreed"


class StakeBelowFloor(BadRequest):
    """The stake is lower than `fields["floorUsdCents"]`."""

    code = "stake_below_floor"


class StakeAbovePrize(BadRequest):
    """The stake is higher than `fields["ceilingUsdCents"]`."""

    code = "stake_above_prize"


class StakeDoesNotMatchPrice(BadRequest):
    """The stake is not `fields["expectedUsdCents"]`, the price that the account has set."""

    code = "stake_does_not_match_price"


class IdempotencyKeyConflict(Conflict):
    """The idempotency key belongs to another purchase."""

    code = "idempotency_key_conflict"


class StakeDeclined(PaymentRequired):
    """The stake was declined, and nobody was charged."""

    code = "stake_declined"

    @property
    def seat(self) -> Seat:
        """The declined seat."""
        return Seat.read(self.fields)


class SeatNotFound(NotFound):
    """There is no such seat in this environment."""

    code = "seat_not_found"


class SeatNotWaiting(Conflict):
    """The seat does not wait for an opponent. `fields["status"]` is its status."""

    code = "seat_not_waiting"


class MatchNotFound(NotFound):
    """There is no such match in this environment."""

    code = "match_not_found"


class MatchAlreadyDecided(Conflict):
    """The match has ended with another result."""

    code = "match_already_decided"


class InvalidCursor(BadRequest):
    """The cursor was not issued to this account in this environment, or is ahead of the feed."""

    code = "invalid_cursor"


class MissingParameter(BadRequest):
    """The query parameter `fields["parameter"]` is missing."""

    code = "missing_parameter"


class MalformedDay(BadRequest):
    """A day is not a real date, written yyyymmdd."""

    code = "malformed_day"


class RangeBackwards(BadRequest):
    """The range ends before it starts."""

    code = "range_backwards"


class RangeTooWide(BadRequest):
    """The range has more than `fields["maxRangeDays"]` days."""

    code = "range_too_wide"


class RangeTooExpensive(BadRequest):
    """The range covers more seats than one call answers."""

    code = "range_too_expensive"


class DayNotFinal(BadRequest):
    """The range ends after `fields["latestDay"]`, the newest final day."""

    code = "day_not_final"


class InvoiceNotFound(NotFound):
    """There is no such invoice in this environment."""

    code = "invoice_not_found"


class InvoiceStatusInvalid(BadRequest):
    """The filter names no status of an invoice."""

    code = "invoice_status_invalid"


class InvoiceNotReadable(Conflict):
    """The invoice is a draft, so its total is not known yet."""

    code = "invoice_not_readable"


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
