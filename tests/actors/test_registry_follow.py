"""A registry reads what another node has changed, and nothing else."""

from pathlib import Path

import msgspec
import pytest
import trio
from trio.testing import MockClock

from pgs.actors.messages.account.keys import RevokeKey
from pgs.actors.messages.account.settings import AddOrigin
from pgs.actors.shared.registry import Registry
from pgs.actors.shared.snapshots import STALE_S
from pgs.domain.accounts import Account, Licence
from pgs.domain.keys import hash_key
from pgs.storage import accounts as rows
from pgs.storage.reader import Reader
from tests.actors.api_keys import mint
from tests.actors.people import enrol, join
from tests.actors.ready_core import GAME, ReadyCore, at, ready_core


class Other:
    """The registry of another node on the same rows, and what it publishes."""

    def __init__(self, s: ReadyCore) -> None:
        self.published: list[Account] = []
        self.registry = Registry(s.parts.database, self.published.append)


async def other_of(s: ReadyCore) -> Other:
    other = Other(s)
    await other.registry.refresh()
    other.published.clear()
    return other


async def test_every_kind_of_change_is_read_and_the_registries_are_equal_then(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        other = await other_of(s)
        key_id, key = await mint(s)
        await s.open_partner("new")
        assert await other.registry.follow() == ["acme"]  # `new` was not known
        assert other.registry.accounts() == s.parts.registry.accounts()
        assert other.registry.find_key(hash_key(key)) == s.parts.registry.find_key(hash_key(key))
        await s.partner().account().ask(RevokeKey("ops", key_id))
        await s.partner("new").account().ask(AddOrigin("ops", "test", "https://new.example"))
        await join(s, "ada")
        await enrol(s, "ada")  # an event that raises no revision
        assert await other.registry.follow() == ["acme", "new"]
        assert other.registry.accounts() == s.parts.registry.accounts()
        known = other.registry.find_key(hash_key(key))
        assert known is not None
        assert known.key.is_revoked(at(0))
        assert other.registry.member("ada") == s.parts.registry.member("ada")


async def test_without_a_change_only_the_number_of_changes_is_read(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ready_core(tmp_path) as s:
        other = await other_of(s)

        async def read(*_: object) -> list[Account]:
            raise AssertionError("no account has changed")

        monkeypatch.setattr("pgs.actors.shared.registry.read_newer", read)
        await trio.sleep(STALE_S)
        assert other.registry.is_closed(trio.current_time())
        assert await other.registry.follow() == []
        assert not other.registry.is_closed(trio.current_time())
        assert other.published == []


async def test_only_accounts_that_have_changed_are_read(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ready_core(tmp_path) as s:
        await s.open_partner("quiet")
        other = await other_of(s)
        await mint(s)
        read: list[str] = []
        read_account = rows.read_account

        async def noting(reader: Reader, partner_id: str) -> Account | None:
            read.append(partner_id)
            return await read_account(reader, partner_id)

        monkeypatch.setattr(rows, "read_account", noting)
        await other.registry.follow()
        assert read == ["acme"]
        assert other.published == [s.account()]


async def test_own_changes_are_not_taken_for_changes_of_others(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await mint(s)
        await s.open_partner("second")
        version = s.parts.registry.version
        assert await s.parts.registry.follow() == []
        assert s.parts.registry.version == version


async def test_a_change_published_while_the_rows_are_read_is_kept(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ready_core(tmp_path) as s:
        was = s.account()
        foreign = msgspec.structs.replace(was, burst=7, revision=was.revision + 1)
        await s.write_without_the_actors(rows.update_partner(was, foreign))
        newest = msgspec.structs.replace(foreign, burst=8, revision=foreign.revision + 1)
        read_account = rows.read_account

        async def slowly(reader: Reader, partner_id: str) -> Account | None:
            account = await read_account(reader, partner_id)
            s.parts.registry.publish(newest)
            return account

        monkeypatch.setattr(rows, "read_account", slowly)
        assert await s.parts.registry.follow() == []
        assert s.account() == newest


async def test_changes_that_become_visible_in_another_order_are_all_found(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    """A change of one account with a lower number than one of another account comes after it."""
    async with ready_core(tmp_path) as s:
        await s.open_partner("late")
        other = await other_of(s)
        for name in ("a", "b", "c"):
            await (
                s.partner().account().ask(AddOrigin("ops", "test", f"https://{name}.acme.example"))
            )
        assert await other.registry.follow() == ["acme"]
        await s.partner("late").account().ask(AddOrigin("ops", "test", "https://late.example"))
        assert await other.registry.follow() == ["late"]
        assert other.registry.accounts() == s.parts.registry.accounts()


async def test_a_write_that_raises_no_number_waits_for_the_full_reading(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        other = await other_of(s)
        await s.write_without_the_actors(rows.put_licence("acme", GAME, Licence(test=True)))
        assert await other.registry.follow() == []
        assert await other.registry.refresh() == ["acme"]
