"""Accounts are opened, switched off and on, and given a rate; commands fail or come at once."""

from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from pgs.actors.kernel.mail import Command, Crashed
from pgs.actors.messages.account.keys import KeyMinted, MintKey
from pgs.actors.messages.account.lifecycle import CreatePartner, PartnerCreated, SwitchAccount
from pgs.actors.messages.account.settings import AddOrigin, ChangeLicence, SetPrices, SetRate
from pgs.actors.messages.account.webhooks import SaveWebhook
from pgs.domain.accounts import Account
from pgs.domain.errors import BadRequest, refuse
from pgs.domain.members import PLATFORM
from pgs.domain.names import LABEL_MAX
from pgs.storage import accounts as rows
from pgs.storage.invites import find_account_of
from tests.actors.account_changes import Change, events, nothing
from tests.actors.endpoints import URL
from tests.actors.people import ask
from tests.actors.raw_rows import select
from tests.actors.ready_core import GAME, at, ready_core, until
from tests.virtual import Faults

# --- opening an account ---


async def test_a_new_account_is_on_and_empty_and_invites_its_first_admin(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await until(5)
        made = await ask(s, CreatePartner("  Zebra Games ", "Ops@Zebra.Example"), "zebra")
        assert isinstance(made, PartnerCreated)
        account, invite_id = made.account, made.invite_id
        assert (account.partner_id, account.name, account.active, account.revision) == (
            "zebra",
            "Zebra Games",
            True,
            1,
        )
        assert (account.keys, dict(account.licences), account.agreed_terms_version) == (
            (),
            {},
            None,
        )
        assert (dict(account.pins), dict(account.origins)) == (
            {"test": 1, "live": 1},
            {"test": (), "live": ()},
        )
        assert s.account("zebra") == account
        (invite,) = select(s, "select * from invite where partner_id = 'zebra'")
        assert invite == (
            "zebra",
            invite_id,
            "Ops@zebra.example",
            "admin",
            at(5),
            at(5 + 7 * 86_400),
            None,
            None,
            1,
        )
        assert await find_account_of(s.reader, invite_id) == "zebra"
        assert events(s, "zebra") == [
            ("platform", "account.created", {"name": "Zebra Games"}, at(5))
        ]


@pytest.mark.parametrize(
    ("partner", "name", "email", "refusal"),
    [
        ("acme", "Acme", "ops@acme.example", BadRequest),
        ("test", "Test", "ops@acme.example", BadRequest),
        ("Zebra", "Zebra", "ops@acme.example", BadRequest),
        ("ze", "Zebra", "ops@acme.example", BadRequest),
        ("zebra", "  ", "ops@acme.example", BadRequest),
        ("zebra", "z" * (LABEL_MAX + 1), "ops@acme.example", BadRequest),
        ("zebra", "Zebra", "ops at acme", "invalid_email"),
    ],
)
async def test_an_account_with_an_invalid_id_name_or_address_is_not_opened(
    partner: str,
    name: str,
    email: str,
    refusal: type | str,
    tmp_path: Path,
    autojump_clock: MockClock,
) -> None:
    async with ready_core(tmp_path) as s:
        reply = await ask(s, CreatePartner(name, email), partner)
        assert reply == refuse(refusal) if isinstance(refusal, str) else isinstance(reply, refusal)
        assert [account.partner_id for account in s.parts.registry.accounts()] == ["acme"]


async def test_a_command_to_an_account_that_does_not_exist_is_refused(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        assert isinstance(await ask(s, MintKey("ops", "test", "k"), "nobody"), BadRequest)


# --- switching, rates ---


async def test_an_account_is_switched_off_and_on_again(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        async with nothing(s):
            assert await ask(s, SwitchAccount("ops", True)) == refuse("account_active")
        async with Change(s, ("ada", "account.deactivated", {})):
            account = await ask(s, SwitchAccount("ada", False))
        assert (account.active, account.switched_off_by) == (False, "ada")
        async with nothing(s):
            assert await ask(s, SwitchAccount("ops", False)) == refuse("account_inactive")
        async with Change(s, ("ops", "account.reactivated", {})):
            account = await ask(s, SwitchAccount("ops", True))
        assert (account.active, account.switched_off_by) == (True, None)


async def test_only_the_platform_switches_on_an_account_that_it_switched_off(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await ask(s, SwitchAccount(PLATFORM, False))
        async with nothing(s):
            assert await ask(s, SwitchAccount("ops", True)) == refuse("role_forbidden")
        async with Change(s, (PLATFORM, "account.reactivated", {})):
            await ask(s, SwitchAccount(PLATFORM, True))


async def test_the_platform_takes_over_an_account_that_an_admin_switched_off(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await ask(s, SwitchAccount("ada", False))
        async with Change(s, (PLATFORM, "account.deactivated", {})):
            account = await ask(s, SwitchAccount(PLATFORM, False))
        assert (account.active, account.switched_off_by) == (False, PLATFORM)
        async with nothing(s):
            assert await ask(s, SwitchAccount(PLATFORM, False)) == refuse("account_inactive")
            assert await ask(s, SwitchAccount("ada", False)) == refuse("account_inactive")
            assert await ask(s, SwitchAccount("ada", True)) == refuse("role_forbidden")


async def test_an_account_that_is_off_can_still_be_managed(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await ask(s, SwitchAccount("ops", False))
        assert isinstance(await ask(s, MintKey("ops", "test", "k")), KeyMinted)
        assert isinstance(await ask(s, AddOrigin("ops", "test", "https://acme.example")), Account)


async def test_burst_and_rate_are_set_separately_and_out_of_bounds_refused(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        async with Change(s, ("platform", "account.rate_set", {"burst": 500, "rate": None})):
            await ask(s, SetRate(PLATFORM, 500, None))
        async with Change(s, ("platform", "account.rate_set", {"burst": 500, "rate": 100})):
            account = await ask(s, SetRate(PLATFORM, None, 100))
        assert (account.burst, account.rate) == (500, 100)
        async with nothing(s):
            for burst, rate in ((0, None), (None, 0), (-1, 5), (10**7, None), (5, 2**63)):
                assert isinstance(await ask(s, SetRate(PLATFORM, burst, rate)), BadRequest)


# --- failed writes, and commands at once ---


COMMANDS: list[Command[Any]] = [
    MintKey("ops", "test", "k"),
    ChangeLicence("ops", GAME, "test_on"),
    SetPrices("ops", "test", {"bronze": 120}),
    AddOrigin("ops", "live", "https://acme.example"),
    SaveWebhook("ops", "test", URL),
    SwitchAccount("ops", False),
    SetRate("ops", 5, 5),
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: type(command).__name__)
@pytest.mark.parametrize("text", ["insert into event", "update partner"])
async def test_a_command_whose_event_or_row_cannot_be_written_has_no_effect(
    text: str, command: Command[Any], tmp_path: Path, autojump_clock: MockClock
) -> None:
    faults = Faults()
    async with ready_core(tmp_path, faults=faults) as s:
        async with nothing(s):
            faults.fail(text)
            with pytest.raises(Crashed):
                await ask(s, command)
            faults.heal()
        with_event = len(events(s))
        await ask(s, command)
        assert len(events(s)) == with_event + 1


async def test_commands_at_once_are_taken_one_by_one_and_none_is_lost(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        revision = s.account().revision
        async with trio.open_nursery() as nursery:
            for number in range(20):
                nursery.start_soon(
                    ask, s, AddOrigin("ops", "test", f"https://o{number}.acme.example")
                )
                nursery.start_soon(ask, s, MintKey("ops", "test", f"k{number}"))
        assert (len(s.account().origins["test"]), len(s.account().keys)) == (20, 20)
        assert s.account().revision == revision + 40
        assert await rows.read_account(s.reader, "acme") == s.account()
        events(s)
