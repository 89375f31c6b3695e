"""Published snapshots: a change counts at once, and one written past the actors within a minute.

After ten minutes without a reading they are not used any more.
"""

from pathlib import Path
from types import ModuleType

import msgspec
import pytest
import trio
from trio.testing import MockClock

from pgs.actors.kernel.mail import Crashed
from pgs.actors.messages.account.keys import KeyMinted, MintKey, RevokeKey
from pgs.actors.messages.account.lifecycle import SwitchAccount
from pgs.actors.messages.account.settings import AddOrigin, AgreeTerms, SetPrices
from pgs.actors.messages.catalogue import (
    LockTier,
    PublishTerms,
    SetTier,
    TermsPublished,
    TierLocked,
    TierSet,
)
from pgs.actors.shared import catalogue as catalogue_module
from pgs.actors.shared import registry as registry_module
from pgs.actors.shared.snapshots import Age
from pgs.domain.accounts import Account, Licence
from pgs.domain.errors import refuse
from pgs.domain.keys import hash_key
from pgs.domain.tiers import TierRevision
from pgs.storage import accounts as rows
from pgs.storage import terms, tiers
from pgs.storage.bulk import BulkRead, read_in_bulk
from pgs.storage.database import Database
from pgs.storage.events import Event, insert_event
from pgs.storage.transactions import ReadFailed
from tests.actors.people import enrol, join
from tests.actors.ready_core import FLOOR, GAME, PRIZE, ReadyCore, at, ready_core, until
from tests.virtual import Faults


async def mint(s: ReadyCore, partner: str = "acme") -> tuple[str, str]:
    minted = await s.partner(partner).account().ask(MintKey("ops", "test", "build"))
    assert isinstance(minted, KeyMinted)
    return minted.key.key_id, minted.text


async def test_a_new_key_and_its_revocation_count_at_once(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        before = s.parts.registry.version
        key_id, key = await mint(s)
        known = s.parts.registry.find_key(hash_key(key))
        assert known is not None
        assert (known.account, known.key.key_id, known.key.is_revoked(at(0))) == (
            s.account(),
            key_id,
            False,
        )
        await s.partner().account().ask(RevokeKey("ops", key_id))
        known = s.parts.registry.find_key(hash_key(key))
        assert known is not None
        assert known.key.is_revoked(at(0))
        assert known.account.revision == s.account().revision
        assert s.parts.registry.version == before + 2


async def test_every_account_is_there_after_a_restart(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await s.open_partner("other")
        _, key = await mint(s, "other")
        accounts = s.parts.registry.accounts()
        assert [account.partner_id for account in accounts] == ["acme", "other"]
    async with ready_core(tmp_path, seed=1) as s:
        assert s.parts.registry.accounts() == accounts
        known = s.parts.registry.find_key(hash_key(key))
        assert known is not None
        assert known.account.partner_id == "other"


async def test_a_write_past_the_actor_counts_within_a_minute(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        key_id, key = await mint(s)
        await s.write_past_the_actors(rows.schedule_revocation("acme", key_id, at(0)))
        await until(59.9)
        known = s.parts.registry.find_key(hash_key(key))
        assert known is not None
        assert not known.key.is_revoked(at(60))
        await until(60)
        known = s.parts.registry.find_key(hash_key(key))
        assert known is not None
        assert known.key.is_revoked(at(60))


async def test_a_deactivation_written_past_the_actor_closes_play(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await s.open_partner("other")
        seats = [await s.seat(player) for player in ("alice", "bob", "carol")]
        other = await s.seat("alice", partner="other")
        off = msgspec.structs.replace(s.account(), active=False, switched_off_by="platform")
        await s.write_past_the_actors(rows.update_partner(s.account(), off))
        await until(59.9)
        assert (await s.row(seats[2])).status == "waiting"
        await until(61)
        assert [(await s.row(seat)).end_reason for seat in seats] == ["account_inactive"] * 3
        assert {(await s.row(seat)).stake_status for seat in seats} == {"refunded"}
        assert await s.ask_seat("alice", "late") == refuse("partner_inactive")
        assert await s.row(other) == other
        await s.check_money()


async def test_the_account_actor_takes_over_what_was_written_past_it(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    """Nothing conflicts here: only the reload keeps the actor from writing its old state back."""
    async with ready_core(tmp_path) as s:
        await s.write_past_the_actors(
            rows.update_partner(s.account(), msgspec.structs.replace(s.account(), burst=7, rate=8)),
            rows.put_licence("acme", GAME, Licence(test=True)),
        )
        await until(61)
        account = await s.partner().account().ask(AddOrigin("ops", "live", "https://acme.example"))
        assert isinstance(account, Account)
        assert (account.burst, account.rate, account.licences[GAME].test) == (7, 8, True)
        assert await rows.read_account(s.reader, "acme") == account == s.account()


async def test_a_conflict_with_a_write_past_the_actor_is_decided_anew_and_undoes_nothing(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        was = s.account()
        foreign = msgspec.structs.replace(was, burst=7, revision=was.revision + 1)
        await s.write_past_the_actors(rows.update_partner(was, foreign))
        account = await s.partner().account().ask(AddOrigin("ops", "live", "https://acme.example"))
        assert isinstance(account, Account)
        assert (account.burst, account.revision, account.origins["live"]) == (
            7,
            was.revision + 2,
            ("https://acme.example",),
        )
        assert await rows.read_account(s.reader, "acme") == account == s.account()
        assert await s.count("accounts.origins_of", partner_id="acme") == 1


async def test_a_conflict_that_makes_the_command_pointless_is_refused(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        was = s.account()
        await s.write_past_the_actors(
            rows.update_partner(
                was,
                msgspec.structs.replace(
                    was, active=False, switched_off_by="platform", revision=was.revision + 1
                ),
            )
        )
        assert await s.partner().account().ask(SwitchAccount("ops", False)) == refuse(
            "account_inactive"
        )
        assert await s.partner().account().ask(SwitchAccount("ops", True)) == refuse(
            "role_forbidden"
        )


async def test_rows_that_never_stop_conflicting_end_as_a_crash_not_a_loop(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        was = s.account()
        # An event with the next number but without a raised revision: the actor's own entry
        # conflicts every time.
        await s.write_past_the_actors(
            insert_event("acme", Event(was.event_seq + 1, "evt_x", 0, "platform", "x.y", "{}"))
        )
        with pytest.raises(Crashed):
            await s.partner().account().ask(AddOrigin("ops", "live", "https://acme.example"))
        assert await rows.read_account(s.reader, "acme") == was == s.account()


async def test_the_last_good_reading_serves_until_it_is_600_seconds_old_then_nothing(
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


# --- the catalogue


async def test_a_tier_set_by_its_actor_counts_at_once_and_one_written_past_it_within_a_minute(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await s.set_tier("gold", 500, 900)
        assert (await s.seat("alice", "g", 500, tier="gold")).stake_usd_cents == 500
        await s.write_past_the_actors(
            tiers.insert_revision("test", "gold", TierRevision(2, "Gold", 600, 900), 0)
        )
        await until(59.9)
        assert (await s.seat("alice", "g2", 600, tier="gold")).stake_usd_cents == 500
        await until(60)
        assert (await s.seat("alice", "g3", 600, tier="gold")).stake_usd_cents == 600


async def test_a_tier_written_past_its_actor_makes_the_next_command_decide_anew(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await s.write_past_the_actors(
            tiers.insert_revision("test", "bronze", TierRevision(2, "Bronze", 120, PRIZE), 0)
        )
        assert await s.core.directory.catalogue().ask(
            SetTier("test", "bronze", None, FLOOR, 150)
        ) == TierSet(3)
        await s.write_past_the_actors(tiers.set_lock("test", "bronze", GAME, locked=True))
        assert await s.core.directory.catalogue().ask(
            LockTier("test", "bronze", GAME, True)
        ) == TierLocked(changed=False)
        await s.write_past_the_actors(terms.insert_terms(2, "Other terms", 0))
        assert await s.core.directory.catalogue().ask(PublishTerms("New terms")) == TermsPublished(
            3
        )


async def test_commits_within_one_second_are_not_taken_for_a_foreign_write(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    """Rows of the same second have no order, and a reading must still equal what was published."""
    async with ready_core(tmp_path) as s:
        for name in ("m", "z", "a", "k", "b"):
            await mint(s)
            await (
                s.partner().account().ask(AddOrigin("ops", "test", f"https://{name}.acme.example"))
            )
        version = s.parts.registry.version
        await s.parts.registry.refresh()
        assert s.parts.registry.version == version


# --- slow readings


class SlowReading:
    """Reads at once but returns late, like a thread beside a busy event loop."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, module: ModuleType, seconds: float) -> None:
        self._seconds = seconds
        monkeypatch.setattr(module, "read_in_bulk", self._read)

    async def _read(self, database: Database, work: BulkRead[object]) -> object:
        found = await work(database.reader)
        await trio.sleep(self._seconds)
        return found


async def test_a_snapshots_age_counts_from_the_beginning_of_its_reading(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ready_core(tmp_path) as s:
        SlowReading(monkeypatch, registry_module, 5.0)
        SlowReading(monkeypatch, catalogue_module, 5.0)
        await until(65)
        assert s.parts.registry.age_s(trio.current_time()) == pytest.approx(5, abs=0.001)
        monkeypatch.setattr(registry_module, "read_in_bulk", _fail)
        monkeypatch.setattr(catalogue_module, "read_in_bulk", _fail)
        await until(659.99)
        assert not s.parts.registry.is_closed(trio.current_time())
        assert s.parts.catalogue.published(trio.current_time()) is not None
        await until(660)
        assert s.parts.registry.is_closed(trio.current_time())
        assert s.parts.catalogue.published(trio.current_time()) is None


async def _fail(database: Database, work: object) -> object:
    raise ReadFailed("accounts.partners", OSError("gone"))


async def test_a_reading_does_not_hide_what_was_written_while_it_was_under_way(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ready_core(tmp_path) as s:
        SlowReading(monkeypatch, registry_module, 5.0)
        SlowReading(monkeypatch, catalogue_module, 5.0)
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


async def test_a_key_that_its_account_no_longer_holds_is_unknown(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        _, key = await mint(s)
        s.parts.registry.publish(msgspec.structs.replace(s.account(), keys=()))
        assert s.parts.registry.find_key(hash_key(key)) is None


async def test_a_reading_from_before_an_event_that_raised_no_revision_is_not_published(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ready_core(tmp_path) as s:
        await join(s, "ada")
        old = await read_in_bulk(s.parts.database, rows.read_accounts)
        await enrol(s, "ada")
        assert (s.account().revision, s.account().event_seq) == (
            old["acme"].revision,
            old["acme"].event_seq + 1,
        )

        async def read(*_: object) -> object:
            return old

        monkeypatch.setattr(registry_module, "read_in_bulk", read)
        assert await s.parts.registry.refresh() == []
        assert s.account() == await rows.read_account(s.reader, "acme")
