"""A partner's account, as every call and check sees it.

An account is immutable. The account actor replaces it as a whole.
"""

from collections.abc import Collection, Iterable, Mapping

import msgspec

from pgs.domain.environments import Environment
from pgs.domain.errors import Refusal, refuse
from pgs.domain.members import Member
from pgs.domain.tiers import Price


class ApiKey(msgspec.Struct, frozen=True):
    """A key's record. The service does not keep the key itself: it looks keys up by `key_hash`.

    `created_by` is the uid of the member who made the key, None if the platform did.
    """

    key_id: str
    environment: Environment
    label: str
    key_hash: str
    last4: str
    created_at: int
    revokes_at: int | None = None
    created_by: str | None = None

    def is_revoked(self, now: int) -> bool:
        """Return whether the key has stopped working, that is, whether `revokes_at` has come."""
        return self.revokes_at is not None and now >= self.revokes_at

    def status(self, now: int) -> str:
        """Return `active`, `scheduled` (a revocation is due later) or `revoked`."""
        if self.revokes_at is None:
            return "active"
        return "revoked" if self.is_revoked(now) else "scheduled"


def in_order(keys: Iterable[ApiKey]) -> tuple[ApiKey, ...]:
    """Return keys in the order in which an account holds them: by creation time, then by id."""
    return tuple(sorted(keys, key=lambda key: (key.created_at, key.key_id)))


class Licence(msgspec.Struct, frozen=True):
    """What a partner may do with one game.

    `live` is `none`, `requested`, `granted`, `denied` or `withdrawn`.
    """

    test: bool = False
    live: str = "none"
    note: str | None = None

    def covers(self, environment: Environment) -> bool:
        """Return whether the game may be launched in the environment."""
        return self.test if environment == "test" else self.live == "granted"


class Account(msgspec.Struct, frozen=True):
    """All data of an account against which a partner's calls are checked.

    `revision` rises with every change, except if only an authenticator changes or if only the event
    log gets an entry. Two readings of the same rows are equal, because `keys` are in the order of
    `in_order` and origins in alphabetical order. `generations` counts the emergency stops of each
    environment; a session token of an earlier generation is invalid.
    """

    partner_id: str
    name: str
    active: bool
    switched_off_by: str | None
    revision: int
    burst: int | None
    rate: int | None
    pins: Mapping[Environment, int]
    generations: Mapping[Environment, int]
    admin_domain: str | None
    agreed_terms_version: int | None
    agreed_terms_at: int | None
    event_seq: int
    created_at: int
    keys: tuple[ApiKey, ...]
    licences: Mapping[str, Licence]
    origins: Mapping[Environment, tuple[str, ...]]
    prices: Mapping[Environment, Mapping[str, Price]]
    webhook_on: frozenset[Environment] = frozenset()  # where an endpoint is switched on
    members: Mapping[str, Member] = {}  # by uid, in the order in which they joined

    @property
    def version(self) -> tuple[int, int]:
        """The account's revision and the number of its last event.

        Every change raises at least one of them, so the later of two readings compares greater.
        """
        return self.revision, self.event_seq

    def licensed_games(self, environment: Environment) -> list[str]:
        """Return the ids of the games licensed in an environment, in alphabetical order."""
        return sorted(
            game_id for game_id, licence in self.licences.items() if licence.covers(environment)
        )


class Webhook(msgspec.Struct, frozen=True):
    """A webhook endpoint without its secret, as its partner sees it. Times in epoch seconds."""

    url: str
    enabled: bool
    consecutive_failures: int
    created_at: int
    secret_rotated_at: int
    disabled_at: int | None


def check_licence(
    account: Account, environment: Environment, game_id: str, installed: Collection[str]
) -> Refusal | None:
    """Return why a partner cannot launch a game in an environment, or None.

    A game that is not installed counts as not licensed.
    """
    licence = account.licences.get(game_id)
    if licence is None or game_id not in installed:
        return refuse("game_not_licensed")
    if licence.covers(environment):
        return None
    if licence.covers("live" if environment == "test" else "test"):
        return refuse("game_not_licensed_in_this_environment")
    return refuse("game_not_licensed")
