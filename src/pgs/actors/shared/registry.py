"""The registry that every call reads: every account, key and member as last read or written.

An account actor publishes each change right after its commit, so the change is effective in this
process at once. Every minute a chore reads all rows again, to find changes that something else has
written. While that fails, the last good reading is used until it is too old.
"""

from collections.abc import Callable

import msgspec
import structlog
import trio

from pgs.actors.shared.snapshots import Age
from pgs.domain.accounts import Account, ApiKey
from pgs.domain.members import Member
from pgs.storage.accounts import read_accounts
from pgs.storage.bulk import read_in_bulk
from pgs.storage.database import Database

log = structlog.get_logger("pgs.registry")


class KnownKey(msgspec.Struct, frozen=True):
    """A key, with its account as last published."""

    account: Account
    key: ApiKey


class KnownMember(msgspec.Struct, frozen=True):
    """A member, with their account as last published."""

    account: Account
    member: Member


class Registry:
    """Accounts by id, keys by hash and members by uid.

    Look-ups have no side effects. An account actor calls `publish` after it has committed the
    account.
    """

    def __init__(self, database: Database, on_publish: Callable[[Account], None]) -> None:
        self.version = 0
        self._database = database
        self._on_publish = on_publish
        self.age = Age()
        self._accounts: dict[str, Account] = {}
        self._keys: dict[str, KnownKey] = {}
        self._member_of: dict[str, str] = {}  # uid → partner id

    def is_closed(self, now: float) -> bool:
        """Return whether the snapshot is too old to answer from."""
        return self.age.is_closed(now)

    def age_s(self, now: float) -> float:
        """Return the age of the snapshot in seconds."""
        return self.age.seconds(now)

    def find_key(self, key_hash: str) -> KnownKey | None:
        """Return the key with that hash and its account, even if the key is revoked."""
        return self._keys.get(key_hash)

    def member(self, uid: str) -> KnownMember | None:
        """Return the member with that uid and their account, or None."""
        account = self._accounts.get(self._member_of.get(uid, ""))
        member = None if account is None else account.members.get(uid)
        return None if account is None or member is None else KnownMember(account, member)

    def account(self, partner_id: str) -> Account | None:
        """Return the account, or None."""
        return self._accounts.get(partner_id)

    def accounts(self) -> list[Account]:
        """Return every account, by id."""
        return [self._accounts[partner_id] for partner_id in sorted(self._accounts)]

    def publish(self, account: Account) -> None:
        """Show a committed account to every call from now on."""
        self.version += 1
        was = self._accounts.get(account.partner_id)
        self._accounts[account.partner_id] = account
        for key in was.keys if was else ():
            self._keys.pop(key.key_hash, None)
        for key in account.keys:
            self._keys[key.key_hash] = KnownKey(account, key)
        for uid in was.members if was else ():
            if (
                self._member_of.get(uid) == account.partner_id
            ):  # the member may have moved to another account
                del self._member_of[uid]
        for uid in account.members:
            self._member_of[uid] = account.partner_id
        self._on_publish(account)

    async def refresh(self) -> list[str]:
        """Read every account again; return the partners whose rows something else has written.

        Raises `StoreOutage`; the snapshot then stays as it was.
        """
        read_at = trio.current_time()
        written_by_others: list[str] = []
        for account in (await read_in_bulk(self._database, read_accounts)).values():
            known = self._accounts.get(account.partner_id)
            if known is not None and _is_newer(known, account):
                continue  # committed and published while the rows were being read
            if known != account:
                self.publish(account)
                if known is not None:
                    log.warning("account_written_past_its_actor", partner_id=account.partner_id)
                    written_by_others.append(account.partner_id)
        self.age.renew(read_at)
        return written_by_others


def _is_newer(one: Account, other: Account) -> bool:
    """Return whether `one` is the later version. Some events do not raise the revision."""
    return (one.revision, one.event_seq) > (other.revision, other.event_seq)
