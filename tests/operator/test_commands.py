"""Every operator's command, given to a running service through its socket and to a data folder that nobody serves."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, closing
from functools import partial
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import msgspec
import pytest
import trio

from pgs.actors.messages.account.factors import EnrollTotp, Enrolment, VerifyTotp
from pgs.actors.messages.account.people import AcceptInvite
from pgs.app import open_core
from pgs.cli.call import perform
from pgs.cli.errors import NoDatabase
from pgs.config import Config
from pgs.domain.errors import refuse
from pgs.domain.keys import hash_key
from pgs.domain.rate import BUCKET_MAX
from pgs.domain.tiers import TIER_USD_CENTS_MAX
from pgs.domain.totp import code_at
from pgs.operator import commands
from pgs.operator import records as r
from pgs.operator.answers import BadCall, Done
from pgs.operator.command import Args, NoArgs, OperatorCommand
from pgs.operator.commands import COMMANDS
from pgs.operator.commands.db import DB_CHECK, DB_MIGRATE, BackupFolder
from pgs.operator.commands.game import GAME_LICENCE, LicenceStep
from pgs.operator.commands.ledger import LEDGER_CHECK
from pgs.operator.commands.match import MATCH_VOID, MatchId
from pgs.operator.commands.partner import (
    PARTNER_CREATE,
    PARTNER_DEACTIVATE,
    PARTNER_LIST,
    PARTNER_REACTIVATE,
    PARTNER_RESET_AUTHENTICATOR,
    PARTNER_SET,
    PARTNER_SHOW,
    MemberOf,
    NewPartner,
    PartnerId,
    PartnerRate,
    PartnersAfter,
)
from pgs.operator.commands.terms import TERMS_END, TERMS_PUBLISH, NewTerms
from pgs.operator.commands.tier import (
    TIER_LIST,
    TIER_LOCK,
    TIER_SET,
    TIER_UNLOCK,
    TierNumbers,
    TierOfGame,
)
from pgs.operator.protocol import running
from pgs.storage.connections import connect
from pgs.storage.data_folder import DataFolderInUse, DataLock
from pgs.storage.reader import Reader
from tests.operator.support import Operator, prepare, seat, serving


@pytest.fixture(params=["running", "stopped"])
def served(request: pytest.FixtureRequest) -> bool:
    """Whether a service runs on the data folder."""
    return bool(request.param == "running")


@pytest.fixture
async def operator(tmp_path: Path, served: bool) -> AsyncIterator[Operator]:
    """An operator of a data folder with the partner `acme`, whose players ann and bob play a match, and cleo waits."""
    await prepare(tmp_path, "ann", "bob", "cleo")
    async with AsyncExitStack() as stack:
        if served:
            await stack.enter_async_context(serving(tmp_path))
        assert running(tmp_path) == served
        yield Operator(tmp_path)


async def test_a_new_partner_is_there_with_an_invite_and_nothing_else(operator: Operator) -> None:
    created = await operator.done(
        PARTNER_CREATE, NewPartner("bravo", "Bravo", "boss@bravo.example")
    )
    assert created.invite_id.startswith("ivt_")
    shown = await operator.done(PARTNER_SHOW, PartnerId("bravo"))
    assert (shown.name, shown.active, shown.keys, shown.licences) == ("Bravo", True, [], [])
    assert shown.games == {"test": [], "live": []}
    assert shown.agreed_terms_version is None


async def test_a_partner_is_created_once(operator: Operator) -> None:
    refusal = await operator.refused(
        PARTNER_CREATE, NewPartner("acme", "Acme", "boss@acme.example")
    )
    assert "exists already" in refusal.error


@pytest.mark.parametrize(
    ("partner_id", "name", "email", "reason"),
    [
        ("Acme", "x", "a@b.example", None),
        ("bravo", " ", "a@b.example", None),
        ("bravo", "x", "nobody", "invalid_email"),
    ],
)
async def test_a_partner_that_cannot_be_is_refused(
    operator: Operator, partner_id: str, name: str, email: str, reason: str | None
) -> None:
    refusal = await operator.refused(PARTNER_CREATE, NewPartner(partner_id, name, email))
    assert refusal.reason == reason
    assert "no partner" in (await operator.refused(PARTNER_SHOW, PartnerId(partner_id))).error


async def test_partners_are_listed_by_id_a_page_at_a_time(operator: Operator) -> None:
    await operator.done(PARTNER_CREATE, NewPartner("aaa", "First", "boss@aaa.example"))
    whole = await operator.done(PARTNER_LIST, PartnersAfter())
    assert [partner.partner_id for partner in whole.partners] == ["aaa", "acme"]
    assert whole.next_after is None
    first = await operator.done(PARTNER_LIST, PartnersAfter(limit=1))
    assert ([partner.partner_id for partner in first.partners], first.next_after) == (
        ["aaa"],
        "aaa",
    )
    second = await operator.done(PARTNER_LIST, PartnersAfter("aaa", limit=1))
    assert ([partner.partner_id for partner in second.partners], second.next_after) == (
        ["acme"],
        None,
    )


async def test_no_answer_holds_a_key_or_its_hash(tmp_path: Path) -> None:
    partner = await prepare(tmp_path)
    answer = await Operator(tmp_path).ask(PARTNER_SHOW, PartnerId("acme"))
    assert isinstance(answer, Done)
    text = bytes(answer.result).decode()
    shown = msgspec.json.decode(text)
    assert [key["last4"] for key in shown["keys"]] == [
        key[-4:] for key in _keys_in_order(shown, partner.test_key, partner.live_key)
    ]
    for key in (partner.test_key, partner.live_key):
        assert key not in text
        assert hash_key(key) not in text
    assert partner.test_key not in repr(partner)


def _keys_in_order(
    shown: dict[str, list[dict[str, str]]], test_key: str, live_key: str
) -> list[str]:
    return [test_key if key["environment"] == "test" else live_key for key in shown["keys"]]


async def test_deactivation_ends_all_play_and_says_how_much(operator: Operator) -> None:
    off = await operator.done(PARTNER_DEACTIVATE, PartnerId("acme"))
    assert (off.active, off.switched_off_by, off.ended) == (
        False,
        "platform",
        2,
    )  # a match and a waiting seat
    assert (
        await operator.refused(PARTNER_DEACTIVATE, PartnerId("acme"))
    ).reason == "account_inactive"
    on = await operator.done(PARTNER_REACTIVATE, PartnerId("acme"))
    assert (on.active, on.switched_off_by) == (True, None)
    assert (
        await operator.refused(PARTNER_REACTIVATE, PartnerId("acme"))
    ).reason == "account_active"


async def test_a_rate_is_set_by_halves(operator: Operator) -> None:
    assert (await operator.done(PARTNER_SET, PartnerRate("acme", burst=1000))).burst == 1000
    both = await operator.done(PARTNER_SET, PartnerRate("acme", rate=500))
    assert (both.burst, both.rate) == (1000, 500)
    assert "at least 1" in (await operator.refused(PARTNER_SET, PartnerRate("acme", rate=0))).error
    assert "Nothing to set" in (await operator.refused(PARTNER_SET, PartnerRate("acme"))).error


async def test_the_platform_withdraws_what_it_granted_and_grants_what_is_asked_for_alone(
    operator: Operator,
) -> None:
    withdrawn = await operator.done(
        GAME_LICENCE, LicenceStep("acme", "reversi", "withdraw", "not yet")
    )
    held = {licence.game_id: licence for licence in withdrawn.licences}["reversi"]
    assert (held.test, held.live, held.note) == (True, "withdrawn", "not yet")
    assert "reversi" in withdrawn.games["test"]
    assert "reversi" not in withdrawn.games["live"]
    early = await operator.refused(GAME_LICENCE, LicenceStep("acme", "reversi", "grant"))
    assert "not been requested" in early.error
    assert early.error.endswith(
        "The partner asks with `POST /partner/admin/games/reversi/live-request`."
    )
    twice = await operator.refused(GAME_LICENCE, LicenceStep("acme", "tic-tac-toe", "grant"))
    assert twice.error == "Live access has been granted already. It can be withdrawn."
    unknown = await operator.refused(GAME_LICENCE, LicenceStep("nobody", "reversi", "grant"))
    assert unknown.error == "There is no partner nobody; `pgs partner list` names those there are."
    assert (
        await operator.refused(GAME_LICENCE, LicenceStep("acme", "poker", "deny"))
    ).reason == "unknown_game"


@pytest.mark.parametrize(
    "command",
    [PARTNER_SHOW, PARTNER_DEACTIVATE, PARTNER_REACTIVATE],
    ids=lambda command: command.name,
)
async def test_an_unknown_partner_is_named_as_such(
    operator: Operator, command: OperatorCommand[PartnerId, r.PartnerRecord]
) -> None:
    assert "no partner nobody" in (await operator.refused(command, PartnerId("nobody"))).error
    assert (
        "no partner nobody" in (await operator.refused(PARTNER_SET, PartnerRate("nobody", 1))).error
    )


async def test_a_tier_gets_a_revision_for_new_numbers_alone(operator: Operator) -> None:
    made = await operator.done(TIER_SET, TierNumbers("live", "gold", 500, 900, "Gold"))
    assert (made.revision, made.name, made.pays_in) == (1, "Gold", False)
    assert (await operator.done(TIER_SET, TierNumbers("live", "gold", 500, 900))).revision == 1
    raised = await operator.done(TIER_SET, TierNumbers("live", "gold", 500, 1001))
    assert (raised.revision, raised.name, raised.pays_in) == (2, "Gold", True)
    listed = await operator.done(TIER_LIST, NoArgs())
    assert [(tier.environment, tier.tier_id, tier.prize_usd_cents) for tier in listed.tiers] == [
        ("test", "bronze", 180),
        ("live", "gold", 1001),
    ]


@pytest.mark.parametrize(("floor", "prize"), [(100, 99), (0, 100), (-1, 5)])
async def test_a_tier_that_cannot_be_is_refused(operator: Operator, floor: int, prize: int) -> None:
    assert (
        await operator.refused(TIER_SET, TierNumbers("test", "gold", floor, prize))
    ).reason is None
    assert [tier.tier_id for tier in (await operator.done(TIER_LIST, NoArgs())).tiers] == ["bronze"]


async def test_a_tier_is_locked_for_one_game_and_unlocked_again(operator: Operator) -> None:
    place = TierOfGame("test", "bronze", "chess")
    locked = await operator.done(TIER_LOCK, place)
    assert (locked.locked_games, locked.changed) == (["chess"], True)
    assert not (await operator.done(TIER_LOCK, place)).changed
    unlocked = await operator.done(TIER_UNLOCK, place)
    assert (unlocked.locked_games, unlocked.changed) == ([], True)
    assert (
        await operator.refused(TIER_LOCK, TierOfGame("live", "bronze", "chess"))
    ).reason == "unknown_tier"
    assert (
        await operator.refused(TIER_UNLOCK, TierOfGame("test", "bronze", "poker"))
    ).reason == "unknown_game"


async def test_terms_are_published_under_the_next_version(operator: Operator) -> None:
    assert (await operator.done(TERMS_PUBLISH, NewTerms("New terms."))).version == 2
    assert (await operator.done(TERMS_PUBLISH, NewTerms("Newer terms."))).version == 3
    assert "terms must be" in (await operator.refused(TERMS_PUBLISH, NewTerms(" "))).error
    assert (await operator.done(PARTNER_SHOW, PartnerId("acme"))).agreed_terms_version == 1


async def test_an_agreement_is_ended_and_agreed_to_anew(operator: Operator) -> None:
    ended = await operator.done(TERMS_END, PartnerId("acme"))
    assert (ended.agreed_terms_version, ended.agreed_terms_at) == (None, None)
    assert "no terms are agreed" in (await operator.refused(TERMS_END, PartnerId("acme"))).error
    assert "no partner" in (await operator.refused(TERMS_END, PartnerId("nobody"))).error


async def test_a_lost_authenticator_is_dropped_and_its_member_enrols_another(
    tmp_path: Path,
) -> None:
    partner = await prepare(tmp_path)
    async with serving(tmp_path) as core:
        account = core.directory.partner("acme").account()
        await account.ask(AcceptInvite("auth0|ada", "admin@acme.example", partner.invite_id))
        enrolled = await account.ask(EnrollTotp("auth0|ada"))
        assert isinstance(enrolled, Enrolment)
        await account.ask(VerifyTotp("auth0|ada", code_at(enrolled.secret, core.parts.clock.now())))
        assert (await account.ask(VerifyTotp("auth0|ada", "x"))) == refuse("invalid_code")
        operator = Operator(tmp_path)
        (member,) = (await operator.done(PARTNER_SHOW, PartnerId("acme"))).members
        assert (member.uid, member.email, member.role) == (
            "auth0|ada",
            "admin@acme.example",
            "admin",
        )
        reset = await operator.done(PARTNER_RESET_AUTHENTICATOR, MemberOf("acme", member.uid))
        assert (reset.partner_id, reset.uid, reset.email, reset.role) == (
            "acme",
            "auth0|ada",
            "admin@acme.example",
            "admin",
        )
        assert (await account.ask(VerifyTotp("auth0|ada", "x"))) == refuse("totp_not_enrolled")
        assert isinstance(await account.ask(EnrollTotp("auth0|ada")), Enrolment)
    # The same where no service runs.
    await Operator(tmp_path).done(PARTNER_RESET_AUTHENTICATOR, MemberOf("acme", "auth0|ada"))
    assert (
        await Operator(tmp_path).refused(PARTNER_RESET_AUTHENTICATOR, MemberOf("acme", "eve"))
    ).reason == "member_not_found"
    assert (
        "no partner"
        in (
            await Operator(tmp_path).refused(PARTNER_RESET_AUTHENTICATOR, MemberOf("nobody", "eve"))
        ).error
    )


async def test_a_match_is_voided_by_its_id_alone(operator: Operator) -> None:
    match_id = await _running_match(operator.config.data_dir)
    voided = await operator.done(MATCH_VOID, MatchId(match_id))
    assert (voided.partner_id, voided.environment, voided.status, voided.end_reason) == (
        "acme",
        "test",
        "no_contest",
        "platform_void",
    )
    assert (await operator.done(MATCH_VOID, MatchId(match_id))).end_reason == "platform_void"
    assert (await operator.refused(MATCH_VOID, MatchId("mat_0"))).reason == "match_not_found"


async def _running_match(folder: Path) -> str:
    reader = Reader(connect(folder / "pgs.db", query_only=True))
    try:
        ((match_id,),) = await reader.all(
            "matches.running_matches_after",
            partner_id="acme",
            environment="test",
            after="",
            page_size=9,
        )
    finally:
        reader.close()
    return str(match_id)


async def test_the_ledger_is_added_up(operator: Operator) -> None:
    report = await operator.done(LEDGER_CHECK, NoArgs())
    assert report.sound
    assert (report.escrow_usd_cents, report.open_stakes_usd_cents, report.sum_usd_cents) == (
        300,
        300,
        0,
    )
    assert {balance.account: balance.amount_usd_cents for balance in report.balances} == {
        "escrow": 300,
        "player": -300,
    }


async def test_the_database_reads_itself(operator: Operator) -> None:
    checked = await operator.done(DB_CHECK, NoArgs())
    assert (checked.sound, checked.problems) == (True, [])
    assert checked.migrations[0] == "0001_launch"
    assert (await operator.done(DB_MIGRATE, NoArgs())).migrations == checked.migrations


async def test_a_damaged_database_is_told_from_a_sound_one(tmp_path: Path) -> None:
    await Operator(tmp_path).done(
        PARTNER_CREATE, NewPartner("bravo", "Bravo", "boss@bravo.example")
    )
    with closing(sqlite3.connect(tmp_path / "pgs.db")) as connection:
        connection.execute(
            "pragma wal_checkpoint(truncate)"
        )  # else the page might be read from the log, where it is sound
        (page_size,) = connection.execute("pragma page_size").fetchone()
        (page,) = connection.execute(
            "select rootpage from sqlite_master where name = 'event'"
        ).fetchone()  # no start reads it
    with (tmp_path / "pgs.db").open("r+b") as file:
        file.seek((page - 1) * page_size)
        file.write(b"\xff" * page_size)
    async with serving(tmp_path) as core:
        checked = await Operator(tmp_path).done(DB_CHECK, NoArgs())
        assert core.parts.database.path.exists()
    assert not checked.sound
    assert checked.problems


async def test_a_row_that_breaks_a_rule_of_the_schema_is_found(
    tmp_path: Path, served: bool
) -> None:
    await prepare(tmp_path)
    with closing(sqlite3.connect(tmp_path / "pgs.db", isolation_level=None)) as connection:
        connection.execute("pragma ignore_check_constraints=on")
        connection.execute(
            "insert into tier_lock (environment, tier_id, game_id) values ('prod', 'bronze', 'chess')"
        )
    async with AsyncExitStack() as stack:
        if served:
            await stack.enter_async_context(serving(tmp_path))
        checked = await Operator(tmp_path).done(DB_CHECK, NoArgs())
    assert not checked.sound
    assert "tier_lock" in " ".join(checked.problems)


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
async def test_a_mistyped_folder_is_not_made(
    tmp_path: Path, command: OperatorCommand[Args, r.Record]
) -> None:
    samples = {
        NoArgs: NoArgs(),
        PartnerId: PartnerId("acme"),
        MemberOf: MemberOf("acme", "ada"),
        PartnersAfter: PartnersAfter(),
        PartnerRate: PartnerRate("acme", 1),
        LicenceStep: LicenceStep("acme", "chess", "grant"),
        TierOfGame: TierOfGame("test", "bronze", "chess"),
        MatchId: MatchId("mat_0"),
        BackupFolder: BackupFolder("/nowhere"),
    }
    with pytest.raises(NoDatabase):
        await Operator(tmp_path / "nowhere").ask(command, samples[command.args])
    assert not (tmp_path / "nowhere").exists()


async def test_a_folder_can_begin_with_a_partner(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    await Operator(folder).done(PARTNER_CREATE, NewPartner("bravo", "Bravo", "boss@bravo.example"))
    async with open_core(Config(data_dir=folder)) as core:
        assert core.parts.registry.account("bravo") is not None


async def test_a_folder_that_another_process_holds_is_waited_for(
    tmp_path: Path, autojump_clock: trio.testing.MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "pgs.app.open_core", partial(open_core, inline=True)
    )  # virtual time runs away from a thread
    # A service that starts: it has the lock, and its socket comes a second later.
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
            with trio.fail_after(100):
                await answered.wait()
    assert isinstance(answers[0], Done)


async def test_a_folder_that_stays_held_is_given_up(
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


async def test_two_commands_at_once_on_a_folder_wait_for_each_other(tmp_path: Path) -> None:
    operator = Operator(tmp_path)
    await operator.done(DB_MIGRATE, NoArgs())
    async with trio.open_nursery() as nursery:
        for number in range(3):
            nursery.start_soon(
                operator.done, TIER_SET, TierNumbers("test", f"tier-{number}", 100, 180)
            )
    assert len((await operator.done(TIER_LIST, NoArgs())).tiers) == 3


async def test_arguments_that_no_command_takes_are_refused_before_they_are_sent(
    tmp_path: Path,
) -> None:
    with pytest.raises(BadCall, match="burst"):
        await Operator(tmp_path).ask(PARTNER_SET, PartnerRate("acme", burst=BUCKET_MAX + 1))
    with pytest.raises(BadCall, match="prize"):
        await Operator(tmp_path).ask(
            TIER_SET, TierNumbers("test", "gold", 100, TIER_USD_CENTS_MAX + 1)
        )


def test_every_command_has_the_name_it_is_listed_under() -> None:
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
