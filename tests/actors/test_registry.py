"""The registry of accounts: a change counts at once, a write without the actors within a minute."""

from pathlib import Path

import msgspec
import pytest
from structlog.testing import capture_logs
from trio.testing import MockClock

from pgs.actors.kernel.mail import Crashed
from pgs.actors.maintenance.registers import refresh_registry
from pgs.actors.messages.account.keys import RevokeKey
from pgs.actors.messages.account.lifecycle import SwitchAccount
from pgs.actors.messages.account.settings import AddOrigin
from pgs.actors.partners import PartnerDirectory
from pgs.actors.shared import registry as registry_module
from pgs.app import MAKERS
from pgs.domain.accounts import Account, Licence
from pgs.domain.errors import refuse
from pgs.domain.keys import hash_key
from pgs.storage import accounts as rows
from pgs.storage.bulk import read_in_bulk
from pgs.storage.events import Event, insert_event
from tests.actors.api_keys import mint
from tests.actors.people import enrol, join
from tests.actors.ready_core import GAME, at, ready_core, until


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


async def test_a_write_without_the_actor_counts_within_a_minute(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        key_id, key = await mint(s)
        await s.write_without_the_actors(rows.schedule_revocation("acme", key_id, at(0)))
        await until(59.9)
        known = s.parts.registry.find_key(hash_key(key))
        assert known is not None
        assert not known.key.is_revoked(at(60))
        await until(60)
        known = s.parts.registry.find_key(hash_key(key))
        assert known is not None
        assert known.key.is_revoked(at(60))


async def test_a_deactivation_written_without_the_actor_closes_play(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await s.open_partner("other")
        seats = [await s.seat(player) for player in ("alice", "bob", "carol")]
        other = await s.seat("alice", partner="other")
        off = msgspec.structs.replace(s.account(), active=False, switched_off_by="platform")
        await s.write_without_the_actors(rows.update_partner(s.account(), off))
        await until(59.9)
        assert (await s.row(seats[2])).status == "waiting"
        await until(61)
        assert [(await s.row(seat)).end_reason for seat in seats] == ["account_inactive"] * 3
        assert {(await s.row(seat)).stake_status for seat in seats} == {"refunded"}
        assert await s.ask_seat("alice", "late") == refuse("partner_inactive")
        assert await s.row(other) == other
        await s.check_money()


async def test_the_account_actor_takes_over_changes_that_were_written_past_it(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    """Nothing conflicts here: only the reload keeps the actor from writing its old state back."""
    async with ready_core(tmp_path) as s:
        await s.write_without_the_actors(
            rows.update_partner(s.account(), msgspec.structs.replace(s.account(), burst=7, rate=8)),
            rows.put_licence("acme", GAME, Licence(test=True)),
        )
        await until(61)
        account = await s.partner().account().ask(AddOrigin("ops", "live", "https://acme.example"))
        assert isinstance(account, Account)
        assert (account.burst, account.rate, account.licences[GAME].test) == (7, 8, True)
        assert await rows.read_account(s.reader, "acme") == account == s.account()


@pytest.mark.parametrize(
    ("alone", "told"),
    [
        (True, ("warning", "account_written_past_its_actor")),
        (False, ("info", "account_changed_by_another_node")),
    ],
)
async def test_a_change_by_another_node_is_logged_as_info_and_one_by_a_stranger_as_a_warning(
    tmp_path: Path, autojump_clock: MockClock, *, alone: bool, told: tuple[str, str]
) -> None:
    async with ready_core(tmp_path) as s:
        directory = PartnerDirectory(
            s.parts, MAKERS, s.core.directory.admission, None if alone else lambda partner_id: True
        )
        off = msgspec.structs.replace(s.account(), burst=7, revision=s.account().revision + 1)
        await s.write_without_the_actors(rows.update_partner(s.account(), off))
        with capture_logs() as lines:
            await refresh_registry(s.parts, directory)
        assert [(line["log_level"], line["event"]) for line in lines] == [told]


async def test_a_command_decided_anew_after_a_write_without_the_actor_undoes_nothing(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        was = s.account()
        foreign = msgspec.structs.replace(was, burst=7, revision=was.revision + 1)
        await s.write_without_the_actors(rows.update_partner(was, foreign))
        account = await s.partner().account().ask(AddOrigin("ops", "live", "https://acme.example"))
        assert isinstance(account, Account)
        assert (account.burst, account.revision, account.origins["live"]) == (
            7,
            was.revision + 2,
            ("https://acme.example",),
        )
        assert await rows.read_account(s.reader, "acme") == account == s.account()
        assert await s.count("accounts.origins_of", partner_id="acme") == 1


async def test_a_command_that_a_conflict_has_made_pointless_is_refused(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        was = s.account()
        await s.write_without_the_actors(
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


async def test_a_command_whose_rows_conflict_every_time_crashes_instead_of_looping(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        was = s.account()
        # An event with the next number but without a raised revision: the actor's own entry
        # conflicts every time.
        await s.write_without_the_actors(
            insert_event("acme", Event(was.event_seq + 1, "evt_x", 0, "platform", "x.y", "{}"))
        )
        with pytest.raises(Crashed):
            await s.partner().account().ask(AddOrigin("ops", "live", "https://acme.example"))
        assert await rows.read_account(s.reader, "acme") == was == s.account()


async def test_commits_within_one_second_are_not_taken_for_a_write_without_the_actor(
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
