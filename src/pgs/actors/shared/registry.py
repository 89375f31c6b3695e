"""The registry that every call reads: every account, key and member as last read or written.

An account actor publishes each change right after its commit, so the change is effective in this
process at once. Changes that another node has committed are read within two seconds. Every minute a
chore reads all rows again, to find changes that something else has written. A reading may also find
what an account actor has just committed and not published yet; that is no change by others. While
these readings fail, the last successful one is used until it is too old.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import msgspec
import trio

from pgs.actors.shared.snapshots import Age
from pgs.domain.accounts import Account, ApiKey
from pgs.domain.members import Member
from pgs.storage.accounts import count_changes, read_accounts, read_newer
from pgs.storage.bulk import read_in_bulk
from pgs.storage.database import Database
from pgs.storage.reader import Reader


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
        self._changes = 0  # changes of all accounts, as `count_changes` counts them
        self._keys: dict[str, KnownKey] = {}
        self._member_of: dict[str, str] = {}  # uid → partner id
        self._committing: dict[str, Account] = {}
        self._unconfirmed: dict[str, Account] = {}

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
        """Return every account, in the order of their ids."""
        return [self._accounts[partner_id] for partner_id in sorted(self._accounts)]

    def publish(self, account: Account) -> None:
        """Show a committed account to every call from now on."""
        self.version += 1
        was = self._accounts.get(account.partner_id)
        self._changes += sum(account.version) - (sum(was.version) if was else 0)
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

    @contextmanager
    def committing(self, account: Account) -> Iterator[None]:
        """While the block runs, a reading that finds `account` does not count it as others' change.

        The block is the account actor's commit. If the block raises, the account may be in the rows
        all the same: see `found_own_commit`.
        """
        self._committing[account.partner_id] = account
        try:
            yield
            self._unconfirmed.pop(account.partner_id, None)
        except BaseException:
            self._unconfirmed[account.partner_id] = account
            raise
        finally:
            del self._committing[account.partner_id]

    def found_own_commit(self, partner_id: str) -> bool:
        """Return whether a commit of this process raised an error and yet changed the account.

        Call this after a reading: the answer is True if the account, as last read, has the change
        of that commit. A second call for the same commit returns False.
        """
        account = self._unconfirmed.get(partner_id)
        if account is None or account != self._accounts.get(partner_id):
            return False
        del self._unconfirmed[partner_id]
        return True

    async def refresh(self) -> list[str]:
        """Read every account again; return the ids of known accounts that others have changed.

        Raises `StoreOutage`; the snapshot then stays as it was.
        """
        read_at = trio.current_time()
        read = await read_in_bulk(self._database, read_accounts)
        return self._take_over(read.values(), read_at)

    async def follow(self) -> list[str]:
        """Read the accounts that others have changed; return the ids of those known before.

        If nothing has changed, this costs one short query. Raises `StoreOutage`; the snapshot then
        stays as it was.
        """
        # Two sums over all accounts are compared: `_changes` adds up the versions that this process
        # has published, the query adds up those in the rows. No row is older than its published
        # account. So if the sums are equal, no account has changed, in whatever order the nodes
        # have committed.
        #
        # Read `_changes` before the query. Read afterwards, `_changes` could include a commit that
        # this process made after the query. The sums could then be equal although another node has
        # changed an account.
        read_at, known = trio.current_time(), self._changes
        if await count_changes(self._database.reader) == known:
            self.age.renew(read_at)
            return []

        async def newer(reader: Reader) -> list[Account]:
            return await read_newer(reader, self._accounts.get)  # accounts are immutable values

        read = await read_in_bulk(self._database, newer)
        return self._take_over(read, read_at)

    def _is_news(self, account: Account) -> bool:
        """Return whether an account that was read is neither known nor about to be published.

        An account counts as known if this version of it or a later one is published. Its actor may
        have published that version while the rows were being read.
        """
        known = self._accounts.get(account.partner_id)
        is_older = known is not None and known.version > account.version
        return not is_older and account not in (known, self._committing.get(account.partner_id))

    def _take_over(self, read: Iterable[Account], read_at: float) -> list[str]:
        """Publish what others have written; return the ids of the accounts known before."""
        written = [account for account in read if self._is_news(account)]
        known = [one.partner_id for one in written if one.partner_id in self._accounts]
        for account in written:
            self.publish(account)
        self.age.renew(read_at)
        return known
