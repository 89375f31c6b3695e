"""What all account rules share: what a rule may look at, and what it may decide."""

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
from pgs.storage.transactions import Stmt


class Context(msgspec.Struct, frozen=True):
    """What a rule may look at besides the account and the command.

    `now` in epoch seconds never goes back; `real` is what the machine's clock says, for codes and
    step-up windows. `random(n)` returns n random bytes; `catalogue()` returns None while the tiers
    cannot be read.
    """

    now: int
    real: int
    random: Callable[[int], bytes]
    catalogue: Callable[[], TierCatalogue | None]
    ring: KeyRing
    versions: ServedVersions

    def new_id(self, prefix: str) -> str:
        """Return a new id that begins with the prefix."""
        return ids.new_id(prefix, self.now * 1000, self.random(ids.ENTROPY_BYTES))

    def seal(self, secret: str, purpose: str) -> str:
        """Return the secret sealed for a purpose, which is how rows store it."""
        return seal(self.ring, secret.encode(), purpose, self.random(NONCE_BYTES))

    def open(self, sealed: str | None, purpose: str) -> str | None:
        """Return the secret that was sealed for the purpose; None if it cannot be opened."""
        secret = None if sealed is None else open_sealed(self.ring, sealed, purpose)
        return None if secret is None else secret.decode()


class Write(msgspec.Struct, frozen=True):
    """A decision to commit an account, further rows, and an event of the event log.

    `account`: the account after the change. `stmts`: the rows beside the account's own. `action`
    and `detail`: what the event says. `reply`: makes the reply from the account as committed.
    `endpoints`: the environments whose courier must read its endpoint again. `revises`: whether
    the account's revision rises. The revision stays the same if only an authenticator changes, or
    if nothing is written but the event.
    """

    account: Account
    stmts: tuple[Stmt, ...]
    action: str
    detail: Mapping[str, Any]
    reply: Callable[[Account], object]
    endpoints: tuple[Environment, ...] = ()
    revises: bool = True


class Unlogged(msgspec.Struct, frozen=True):
    """A decision to commit one row without an event, because an earlier event covers it."""

    stmt: Stmt
    reply: object


AccountDecision = Write | Unlogged | object
"""A `Write`, an `Unlogged`, or just the reply if nothing is committed."""


def as_committed(account: Account) -> object:
    """Return the account itself: the reply to many commands."""
    return account
