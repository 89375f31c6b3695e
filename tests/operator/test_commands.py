"""A command runs in the service of a data folder, or opens the folder if there is no service."""

from functools import partial
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest
import trio

from pgs.app import open_core
from pgs.cli.call import perform
from pgs.cli.errors import NoDatabase
from pgs.config import Config
from pgs.domain.tiers import TIER_USD_CENTS_MAX
from pgs.domain.token_buckets import BUCKET_MAX
from pgs.operator import commands
from pgs.operator import records as r
from pgs.operator.command import Args, NoArgs, OperatorCommand
from pgs.operator.commands import COMMANDS
from pgs.operator.commands.db import DB_MIGRATE, BackupFolder
from pgs.operator.commands.game import LicenceStep
from pgs.operator.commands.invoice import InvoiceId, InvoicesAfter, LinesAfter, Month
from pgs.operator.commands.keyring import KeyId
from pgs.operator.commands.match import MatchId
from pgs.operator.commands.partner import (
    PARTNER_CREATE,
    PARTNER_DEACTIVATE,
    PARTNER_REACTIVATE,
    PARTNER_SET,
    MemberOf,
    NewInvite,
    NewPartner,
    PartnerId,
    PartnersAfter,
    PartnerSettings,
)
from pgs.operator.commands.settlement import Decision, Item, ItemsAfter
from pgs.operator.commands.tier import (
    TIER_LIST,
    TIER_SET,
    TierNumbers,
    TierOfGame,
)
from pgs.operator.messages import BadCall, Done
from pgs.storage.data_folder import DataFolderInUse, DataLock
from tests.operator.support import Operator, prepare, seat, serving

LONG_S = 10.0**6  # virtual seconds that nothing in a test takes


async def test_a_command_takes_effect_in_the_running_service_at_once(tmp_path: Path) -> None:
    await prepare(tmp_path)
    async with serving(tmp_path) as core:
        await Operator(tmp_path).done(TIER_SET, TierNumbers("test", "gold", 500, 900))
        catalogue = core.parts.catalogue.published(trio.current_time())
        assert catalogue is not None
        assert catalogue.find("test", "gold") is not None
        await Operator(tmp_path).done(PARTNER_DEACTIVATE, PartnerId("acme"))
        account = core.parts.registry.account("acme")
        assert account is not None
        assert not account.active
        await Operator(tmp_path).done(PARTNER_REACTIVATE, PartnerId("acme"))
        assert (await seat(core, "ann")).seat.status == "waiting"


@pytest.mark.parametrize(
    "command",
    [command for command in COMMANDS.values() if not command.starts_a_folder],
    ids=lambda command: command.name,
)
async def test_a_mistyped_folder_is_not_created(
    tmp_path: Path, command: OperatorCommand[Args, r.Record]
) -> None:
    samples = {
        NoArgs: NoArgs(),
        PartnerId: PartnerId("acme"),
        MemberOf: MemberOf("acme", "ada"),
        PartnersAfter: PartnersAfter(),
        PartnerSettings: PartnerSettings("acme", 1),
        NewInvite: NewInvite("acme", "a@acme.example"),
        LicenceStep: LicenceStep("acme", "chess", "grant"),
        TierOfGame: TierOfGame("test", "bronze", "chess"),
        MatchId: MatchId("mat_0"),
        Month: Month("202701"),
        InvoicesAfter: InvoicesAfter(),
        LinesAfter: LinesAfter("inv_0"),
        InvoiceId: InvoiceId("inv_0"),
        KeyId: KeyId("k1"),
        ItemsAfter: ItemsAfter(),
        Item: Item(),
        Decision: Decision("sea_0", "declined"),
        BackupFolder: BackupFolder("/nowhere"),
    }
    with pytest.raises(NoDatabase):
        await Operator(tmp_path / "nowhere").ask(command, samples[command.args])
    assert not (tmp_path / "nowhere").exists()


async def test_the_first_command_on_a_new_folder_can_create_a_partner(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    await Operator(folder).done(PARTNER_CREATE, NewPartner("bravo", "Bravo", "boss@bravo.example"))
    async with open_core(Config(data_dir=folder)) as core:
        assert core.parts.registry.account("bravo") is not None


async def test_a_command_waits_for_a_folder_that_another_process_has_locked(
    tmp_path: Path, autojump_clock: trio.testing.MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    # In line, because virtual time does not wait for a thread.
    monkeypatch.setattr("pgs.app.open_core", partial(open_core, inline=True))
    # Looking for files runs in a thread, and virtual time runs on meanwhile.
    monkeypatch.setattr("pgs.cli.call.WAIT_S", LONG_S)
    # A starting service: it has the lock first, and its socket a second later.
    async with open_core(Config(data_dir=tmp_path), inline=True):
        pass
    lock = DataLock(tmp_path)
    answers, answered = [], trio.Event()

    async def ask() -> None:
        answers.append(await perform(Config(data_dir=tmp_path), TIER_LIST, NoArgs()))
        answered.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(ask)
        await trio.sleep(1)
        assert answers == []
        lock.release()
        async with serving(tmp_path, inline=True):
            await answered.wait()
    assert isinstance(answers[0], Done)


async def test_a_command_gives_up_on_a_folder_that_stays_locked(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    async with open_core(Config(data_dir=tmp_path), inline=True):
        pass
    lock = DataLock(tmp_path)
    try:
        with pytest.raises(DataFolderInUse):
            await perform(Config(data_dir=tmp_path), TIER_LIST, NoArgs())
    finally:
        lock.release()


async def test_commands_started_at_once_on_a_folder_all_take_effect(tmp_path: Path) -> None:
    operator = Operator(tmp_path)
    await operator.done(DB_MIGRATE, NoArgs())
    async with trio.open_nursery() as nursery:
        for number in range(3):
            nursery.start_soon(
                operator.done, TIER_SET, TierNumbers("test", f"tier-{number}", 100, 180)
            )
    assert len((await operator.done(TIER_LIST, NoArgs())).tiers) == 3


async def test_arguments_out_of_bounds_are_refused(
    tmp_path: Path,
) -> None:
    with pytest.raises(BadCall, match="burst"):
        await Operator(tmp_path).ask(PARTNER_SET, PartnerSettings("acme", burst=BUCKET_MAX + 1))
    with pytest.raises(BadCall, match="prize"):
        await Operator(tmp_path).ask(
            TIER_SET, TierNumbers("test", "gold", 100, TIER_USD_CENTS_MAX + 1)
        )


def test_every_command_is_listed() -> None:
    modules = [
        import_module(f"{commands.__name__}.{module.name}")
        for module in iter_modules(commands.__path__)
    ]
    constants = [
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, OperatorCommand)
    ]
    assert {command.name for command in constants} == set(COMMANDS)
