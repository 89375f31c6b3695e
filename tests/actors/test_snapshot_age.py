"""How old the published snapshots are, and when they are too old to be used."""

from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from pgs.actors.messages.account.settings import AgreeTerms, SetPrices
from pgs.actors.messages.catalogue import SetTier, TierSet
from pgs.actors.shared import published_catalogue as catalogue_module
from pgs.actors.shared import registry as registry_module
from pgs.actors.shared.snapshots import Age
from pgs.domain.errors import refuse
from pgs.domain.keys import hash_key
from pgs.storage.bulk import BulkRead
from pgs.storage.database import Database
from pgs.storage.transactions import ReadFailed
from tests.actors.api_keys import mint
from tests.actors.ready_core import ready_core, until
from tests.virtual import Faults


async def test_the_last_good_reading_is_used_until_it_is_600_seconds_old(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults = Faults()
    events: list[str] = []
    async with ready_core(tmp_path, faults=faults, on_event=events.append) as s:
        registry, catalogue = s.parts.registry, s.parts.catalogue
        await until(100)
        faults.fail("from partner order")  # the whole table, which only the registry reads
        faults.fail("from tier")
        await until(659.99)  # last read at 60
        assert not registry.is_closed(trio.current_time())
        assert catalogue.published(trio.current_time()) is not None
        assert registry.age_s(trio.current_time()) == pytest.approx(599.99, abs=0.001)
        await until(660)
        assert registry.is_closed(trio.current_time())
        assert catalogue.published(trio.current_time()) is None
        assert s.parts.registry.account("acme") is not None  # still there, but too old to be used
        assert await s.ask_seat("alice") == refuse("settlement_unavailable")
        assert await s.partner().account().ask(SetPrices("ops", "test", {})) == refuse(
            "settlement_unavailable"
        )
        assert await s.partner().account().ask(AgreeTerms("ops", 1)) == refuse(
            "settlement_unavailable"
        )
        assert events.count("registry_refresh_failed") == events.count("tiers_refresh_failed") == 10
        faults.heal()
        await until(719.9)
        assert registry.is_closed(trio.current_time())
        await until(720)
        assert not registry.is_closed(trio.current_time())
        assert catalogue.published(trio.current_time()) is not None
        assert (await s.seat("alice")).status == "waiting"


async def test_the_age_counts_from_the_reading_not_from_later_writes(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults = Faults()
    async with ready_core(tmp_path, faults=faults) as s:
        faults.fail("from licence order")  # all licences: the registry's own reading
        await until(300)
        await mint(s)
        await until(600)
        assert s.parts.registry.is_closed(trio.current_time())


def slow_readings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the snapshots be read at once but arrive five seconds later, as from a busy thread."""

    async def read(database: Database, work: BulkRead[object]) -> object:
        found = await work(database.reader)
        await trio.sleep(5)
        return found

    replace_reading(monkeypatch, read)


def replace_reading(monkeypatch: pytest.MonkeyPatch, read: object) -> None:
    """Let both snapshots be read by another function."""
    for module in (registry_module, catalogue_module):
        monkeypatch.setattr(module, "read_in_bulk", read)


async def test_a_snapshots_age_counts_from_the_beginning_of_its_reading(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ready_core(tmp_path) as s:
        slow_readings(monkeypatch)
        await until(65)
        assert s.parts.registry.age_s(trio.current_time()) == pytest.approx(5, abs=0.001)
        replace_reading(monkeypatch, _fail)
        await until(659.99)
        assert not s.parts.registry.is_closed(trio.current_time())
        assert s.parts.catalogue.published(trio.current_time()) is not None
        await until(660)
        assert s.parts.registry.is_closed(trio.current_time())
        assert s.parts.catalogue.published(trio.current_time()) is None


async def _fail(database: Database, work: object) -> object:
    raise ReadFailed("accounts.partners", OSError("gone"))


async def test_a_reading_does_not_hide_changes_made_while_it_was_under_way(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ready_core(tmp_path) as s:
        slow_readings(monkeypatch)
        await until(62)
        _, key = await mint(s)
        assert await s.core.directory.catalogue().ask(
            SetTier("test", "gold", None, 500, 900)
        ) == TierSet(1)
        account = s.account()
        await until(66)
        assert s.account() == account
        assert s.parts.registry.find_key(hash_key(key)) is not None
        catalogue = s.parts.catalogue.published(trio.current_time())
        assert catalogue is not None
        assert catalogue.find("test", "gold") is not None


def test_a_snapshot_is_too_old_at_600_seconds() -> None:
    age = Age()
    assert age.is_closed(0.0)
    age.renew(60.0)
    assert [age.is_closed(now) for now in (60.0, 659.999, 660.0)] == [False, False, True]
    assert age.seconds(100.0) == 40.0
