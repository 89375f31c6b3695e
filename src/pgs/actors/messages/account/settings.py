"""Commands to the account actor about licences, rake terms, prices, origins and other settings."""

from pgs.actors.messages.account.command import AccountCommand, AccountReply
from pgs.domain.environments import Environment
from pgs.domain.errors import BadRequest, Refusal
from pgs.domain.licences import Step
from pgs.domain.themes import StoredTheme


class ChangeLicence(AccountCommand[AccountReply], frozen=True):
    """Change a game's licence by one step, on behalf of the partner or the platform."""

    by: str
    game_id: str
    step: Step
    note: str | None = None


class AgreeTerms(AccountCommand[AccountReply], frozen=True):
    """Agree to the rake terms of a version, which must be the one on offer."""

    by: str
    version: int


class EndTerms(AccountCommand[AccountReply], frozen=True):
    """End the agreement in force. Only the platform may do this.

    New seats are refused until the partner agrees to the terms on offer.
    """

    by: str


class SetPrices(AccountCommand[AccountReply], frozen=True):
    """Replace all prices of an environment: US cents by tier id."""

    by: str
    environment: Environment
    prices: dict[str, int]


class SetTheme(AccountCommand[StoredTheme | Refusal | BadRequest], frozen=True):
    """Replace the theme of an environment. The reply is the theme as stored.

    `key_id`: the key whose call replaces the theme; `by` is then `platform`. None if a member
    replaces it.
    """

    by: str
    environment: Environment
    theme: StoredTheme
    key_id: str | None = None


class AddOrigin(AccountCommand[AccountReply], frozen=True):
    """Register a web origin. Adding it again changes nothing."""

    by: str
    environment: Environment
    origin: str


class RemoveOrigin(AccountCommand[AccountReply], frozen=True):
    by: str
    environment: Environment
    origin: str


class SetPin(AccountCommand[AccountReply], frozen=True):
    """Pin the calls of an environment to an API version that is served."""

    by: str
    environment: Environment
    version: int


class SetRate(AccountCommand[AccountReply], frozen=True):
    """Set a partner's burst (requests) and rate (requests a second).

    What is None stays as it is.
    """

    by: str
    burst: int | None
    rate: int | None


class CorrectAccount(AccountCommand[AccountReply], frozen=True):
    """Correct what was mistyped: the name, the admin domain, burst and rate. Platform only.

    What is None stays as it is; an empty domain removes the domain.
    """

    by: str
    name: str | None = None
    domain: str | None = None
    burst: int | None = None
    rate: int | None = None


class SetDomain(AccountCommand[AccountReply], frozen=True):
    """Set the admin domain, once. `email`: the caller's verified address, which must be in it."""

    by: str
    email: str
    domain: str
