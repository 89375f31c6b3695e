"""Commands to the account actor about API keys."""

import msgspec

from pgs.actors.messages.account.command import AccountCommand
from pgs.domain.accounts import ApiKey
from pgs.domain.environments import Environment
from pgs.domain.errors import BadRequest, Refusal
from pgs.domain.secrets import HidesSecrets


class KeyMinted(HidesSecrets, msgspec.Struct, frozen=True):
    """The new key's record, and its text, which the service does not keep."""

    SECRETS = frozenset({"text"})

    key: ApiKey
    text: str


class MintKey(AccountCommand[KeyMinted | Refusal | BadRequest], frozen=True):
    """Make an API key."""

    by: str
    environment: Environment
    label: str


class KeyRotated(HidesSecrets, msgspec.Struct, frozen=True):
    """The new key's record and text, and the old key's record. The service does not keep the text.

    `previous.revokes_at` is the time at which the old key stops working.
    """

    SECRETS = frozenset({"text"})

    key: ApiKey
    text: str
    previous: ApiKey


class RotateKey(AccountCommand[KeyRotated | Refusal | BadRequest], frozen=True):
    """Make a key that replaces an active one. The old one works for `keys.ROTATION_S` longer."""

    by: str
    key_id: str


class RevokeKey(AccountCommand[ApiKey | Refusal | BadRequest], frozen=True):
    """Revoke a key at once; the reply is its record. Revoking it again changes nothing."""

    by: str
    key_id: str
