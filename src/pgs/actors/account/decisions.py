"""What a decision on an account's command looks at, and what it decides: shared by the rules of every noun."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from pgs.domain import ids
from pgs.domain.accounts import Account
from pgs.domain.environments import Environment
from pgs.domain.keyring import KeyRing
from pgs.domain.sealed import NONCE_BYTES, open_sealed, seal
from pgs.domain.tiers import TierCatalogue
from pgs.domain.versions import ServedVersions
from pgs.storage.reader import Reader
from pgs.storage.transactions import Stmt


class Context(msgspec.Struct, frozen=True):
    """What a decision may look at besides the account: time, randomness, what others have published, and rows by their key."""

    now: int
    random: Callable[[int], bytes]
    catalogue: Callable[[], TierCatalogue | None]
    ring: KeyRing
    reader: Reader
    versions: ServedVersions

    def new_id(self, prefix: str) -> str:
        """Return a new random id."""
        return ids.new_id(prefix, self.random(ids.ENTROPY_BYTES))

    def seal(self, secret: str, purpose: str) -> str:
        """Return a secret sealed for a purpose, as rows keep it."""
        return seal(self.ring, secret.encode(), purpose, self.random(NONCE_BYTES))

    def open(self, sealed: str | None, purpose: str) -> str | None:
        """Return what was sealed for that purpose, or None where there is nothing or it does not open."""
        secret = None if sealed is None else open_sealed(self.ring, sealed, purpose)
        return None if secret is None else secret.decode()


class Write(msgspec.Struct, frozen=True):
    """A decision to commit: the account after it, the rows beside the account's own, its event, and its answer.

    `answer` is given the account as committed. `endpoints`: the environments whose courier must look at its endpoint again. `revises`:
    whether the account's revision rises; what a member does with an authenticator changes nothing that others have read.
    """

    account: Account
    stmts: tuple[Stmt, ...]
    action: str
    detail: Mapping[str, Any]
    answer: Callable[[Account], object]
    endpoints: tuple[Environment, ...] = ()
    revises: bool = True


class Unlogged(msgspec.Struct, frozen=True):
    """A decision to commit one row beside the account's own and no event: the log has told of it already. `answer` is what it answers."""

    stmt: Stmt
    answer: object


AccountDecision = (
    Write | Unlogged | object
)  # anything but the two is the answer at once, and nothing is committed


def as_committed(account: Account) -> object:
    """Return the account itself: the answer of most commands."""
    return account
