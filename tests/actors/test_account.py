"""Every command of an account: what it changes in rows, and what it refuses."""

import json
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from pgs.actors.kernel.mail import Command, Crashed
from pgs.actors.messages.account.keys import KeyMinted, MintKey, RevokeKey
from pgs.actors.messages.account.lifecycle import CreatePartner, PartnerCreated, SwitchAccount
from pgs.actors.messages.account.settings import (
    AddOrigin,
    AgreeTerms,
    ChangeLicence,
    RemoveOrigin,
    SetPrices,
    SetRate,
)
from pgs.actors.messages.account.webhooks import SaveWebhook
from pgs.actors.messages.catalogue import PublishTerms, TermsPublished
from pgs.domain.accounts import Account, Licence
from pgs.domain.errors import BadRequest, refuse
from pgs.domain.keys import hash_key, parse_key
from pgs.domain.licences import Step
from pgs.domain.members import PLATFORM
from pgs.domain.names import LABEL_MAX
from pgs.domain.origins import MAX_ORIGINS
from pgs.domain.tiers import Price
from pgs.storage import accounts as rows
from pgs.storage.invites import find_account_of
from pgs.storage.webhooks import find_webhook
from tests.actors.raw_rows import select
from tests.actors.ready_core import GAME, ReadyCore, at, ready_core, until
from tests.virtual import Faults

URL = "https://hooks.acme-games.com/pgs?x=1"


async def ask(s: ReadyCore, command: Command[Any], partner: str = "acme") -> Any:
    return await s.partner(partner).account().ask(command)


def events(s: ReadyCore, partner: str = "acme") -> list[tuple[str, str, dict[str, Any], int]]:
    """Return the event log, the oldest first: actor, action, detail, time."""
    found = select(
        s,
        "select actor, action, detail, at, seq from event where partner_id = ? order by seq",
        partner,
    )
    assert [row[4] for row in found] == list(range(1, len(found) + 1))
    return [(row[0], row[1], json.loads(row[2]), row[3]) for row in found]


class Change:
    """Checks that a block makes one revision and one event, and that rows and registry agree."""

    def __init__(self, s: ReadyCore, *expected: tuple[str, str, dict[str, Any]]) -> None:
        self._s = s
        self._expected = expected

    async def __aenter__(self) -> None:
        self._revision = self._s.account().revision
        self._events = len(events(self._s))

    async def __aexit__(self, error: type[BaseException] | None, *_: object) -> None:
        if error is not None:
            return
        new = [
            (actor, action, detail) for actor, action, detail, _ in events(self._s)[self._events :]
        ]
        assert new == list(self._expected)
        assert self._s.account().revision == self._revision + len(self._expected)
        assert await rows.read_account(self._s.reader, "acme") == self._s.account()


def nothing(s: ReadyCore) -> Change:
    """Check that a block changes nothing."""
    return Change(s)


# --- opening an account ---


async def test_a_new_account_is_on_holds_nothing_and_invites_its_first_admin(
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
async def test_an_account_that_cannot_be_is_not_opened(
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


async def test_a_command_to_an_account_that_is_not_there_is_refused(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        assert isinstance(await ask(s, MintKey("ops", "test", "k"), "nobody"), BadRequest)


# --- keys ---


async def test_a_minted_key_is_shown_once_and_kept_as_a_hash(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await until(3)
        minted = await ask(s, MintKey("ops", "live", "  build  "))
        account, key_id, key = s.account(), minted.key.key_id, minted.text
        (record,) = account.keys
        assert record == minted.key
        assert (record.key_id, record.environment, record.label, record.created_at) == (
            key_id,
            "live",
            "build",
            at(3),
        )
        assert (record.key_hash, record.last4, record.revokes_at) == (hash_key(key), key[-4:], None)
        parsed = parse_key(key)
        assert parsed is not None
        assert parsed.environment == "live"
        actor, action, detail, when = events(s)[-1]
        assert (actor, action, when) == ("ops", "key.created", at(3))
        assert detail == {
            "keyId": key_id,
            "environment": "live",
            "label": "build",
            "last4": key[-4:],
        }
        assert await rows.read_account(s.reader, "acme") == account == s.account()


async def test_no_key_and_no_secret_is_anywhere_in_the_data_folder(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        key = (await ask(s, MintKey("ops", "live", "build"))).text
        secret = (await ask(s, SaveWebhook("ops", "test", URL))).secret
        marker = "a label that can be found"
        await ask(s, MintKey("ops", "live", marker))
    held = b"".join(
        (tmp_path / name).read_bytes() for name in ("pgs.db", "keys")
    )  # closing moved the write-ahead log into the database
    assert marker.encode() in held  # proves that the search works
    assert hash_key(key).encode() in held
    for hidden in (key, key[9:], key[:-4], secret, secret.removeprefix("whsec_")):
        assert hidden.encode() not in held


@pytest.mark.parametrize("label", ["", "  ", "\t"])
async def test_a_key_needs_a_label(label: str, tmp_path: Path, autojump_clock: MockClock) -> None:
    async with ready_core(tmp_path) as s, nothing(s):
        assert await ask(s, MintKey("ops", "test", label)) == refuse("label_required")
        assert isinstance(await ask(s, MintKey("ops", "test", "x" * (LABEL_MAX + 1))), BadRequest)


async def test_a_key_is_revoked_at_once_and_revoking_it_again_changes_nothing(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        key_id = (await ask(s, MintKey("ops", "test", "build"))).key.key_id
        await until(8)
        async with Change(s, ("ada", "key.revoked", {"keyId": key_id, "environment": "test"})):
            revoked = await ask(s, RevokeKey("ada", key_id))
        assert s.account().keys == (revoked,)
        assert revoked.revokes_at == at(8)
        async with nothing(s):
            assert await ask(s, RevokeKey("ada", key_id)) == revoked
            assert await ask(s, RevokeKey("ada", "key_x")) == refuse("key_not_found")


async def test_revoking_one_key_leaves_the_others(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        ids = [
            (await ask(s, MintKey("ops", "test", label))).key.key_id
            for label in ("one", "two", "three")
        ]
        await ask(s, RevokeKey("ops", ids[1]))
        assert {key.key_id: key.revokes_at for key in s.account().keys} == {
            ids[0]: None,
            ids[1]: at(0),
            ids[2]: None,
        }


# --- licences, terms, prices ---


async def test_a_game_goes_live_by_its_steps(tmp_path: Path, autojump_clock: MockClock) -> None:
    steps: list[tuple[str, Step, str, Licence]] = [
        ("ops", "test_on", "game.test_enabled", Licence(True)),
        ("ops", "request_live", "game.live_requested", Licence(True, "requested")),
        ("platform", "deny", "game.live_denied", Licence(True, "denied", "why")),
        ("ops", "request_live", "game.live_requested", Licence(True, "requested")),
        ("platform", "grant", "game.live_granted", Licence(True, "granted", "why")),
        ("ops", "test_off", "game.test_disabled", Licence(False, "granted", "why")),
        ("platform", "withdraw", "game.live_withdrawn", Licence(False, "withdrawn", "why")),
    ]
    async with ready_core(tmp_path) as s:
        for by, step, action, after in steps:
            async with Change(s, (by, action, {"gameId": GAME})):
                account = await ask(
                    s, ChangeLicence(by, GAME, step, "why" if by == "platform" else None)
                )
            assert account.licences == {GAME: after}


async def test_a_step_that_cannot_be_taken_changes_nothing(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        async with nothing(s):
            assert await ask(s, ChangeLicence("ops", "ludo", "test_on")) == refuse("unknown_game")
            assert await ask(s, ChangeLicence("ops", GAME, "request_live")) == refuse(
                "not_licensed_in_test"
            )
            assert isinstance(await ask(s, ChangeLicence("platform", GAME, "grant")), BadRequest)
            assert await ask(s, ChangeLicence("ops", GAME, "test_off")) == s.account()
        for step in ("test_on", "request_live", "grant"):
            await ask(s, ChangeLicence("platform", GAME, step))
        async with nothing(s):
            assert await ask(s, ChangeLicence("ops", GAME, "request_live")) == refuse(
                "already_live"
            )
            assert await ask(s, ChangeLicence("ops", GAME, "test_on")) == s.account()


async def test_terms_are_agreed_once_and_only_the_version_on_offer(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        async with nothing(s):
            assert await ask(s, AgreeTerms("ops", 1)) == refuse("terms_already_agreed")
            assert isinstance(await ask(s, AgreeTerms("ops", 2)), BadRequest)
        assert await s.core.directory.catalogue().ask(PublishTerms("New terms")) == TermsPublished(
            2
        )
        # The agreement to the old terms still holds.
        assert (await s.seat("alice")).status == "waiting"
        async with nothing(s):
            assert isinstance(await ask(s, AgreeTerms("ops", 1)), BadRequest)
        await until(4)
        async with Change(s, ("ada", "rake_terms.agreed", {"version": 2})):
            account = await ask(s, AgreeTerms("ada", 2))
        assert (account.agreed_terms_version, account.agreed_terms_at) == (2, at(4))


async def test_prices_are_replaced_as_a_whole_map(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await s.set_tier("gold", 500, 900)
        async with Change(
            s,
            ("ops", "prices.set", {"environment": "test", "prices": {"bronze": 100, "gold": 900}}),
        ):
            account = await ask(s, SetPrices("ops", "test", {"bronze": 100, "gold": 900}))
        assert account.prices == {
            "test": {"bronze": Price(1, 100), "gold": Price(1, 900)},
            "live": {},
        }
        async with Change(
            s, ("ops", "prices.set", {"environment": "test", "prices": {"bronze": 120}})
        ):
            account = await ask(s, SetPrices("ops", "test", {"bronze": 120}))
        assert account.prices["test"] == {"bronze": Price(1, 120)}
        async with Change(s, ("ops", "prices.set", {"environment": "test", "prices": {}})):
            account = await ask(s, SetPrices("ops", "test", {}))
        assert account.prices["test"] == {}


async def test_one_wrong_price_refuses_the_whole_map(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await s.set_prices({"bronze": 120})
        async with nothing(s):
            for prices, refusal in (
                ({"bronze": 130, "none": 130}, refuse("unknown_tier")),
                ({"bronze": 99}, refuse("below_floor", floorUsdCents=100)),
                ({"bronze": 181}, refuse("stake_above_prize", ceilingUsdCents=180)),
            ):
                assert await ask(s, SetPrices("ops", "test", prices)) == refusal


# --- origins and webhooks ---


async def test_an_origin_is_added_once_and_removed_in_whatever_way_it_is_written(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        detail = {"environment": "live", "origin": "https://play.acme.example"}
        async with Change(s, ("ops", "origin.added", detail)):
            account = await ask(s, AddOrigin("ops", "live", "https://Play.Acme.example:443"))
        assert account.origins == {"test": (), "live": ("https://play.acme.example",)}
        async with nothing(s):
            assert await ask(s, AddOrigin("ops", "live", "https://play.acme.example")) == account
            assert await ask(s, AddOrigin("ops", "live", "http://play.acme.example")) == refuse(
                "invalid_origin"
            )
            assert await ask(
                s, RemoveOrigin("ops", "live", "https://play.acme.example/")
            ) == refuse("invalid_origin")
            assert await ask(s, RemoveOrigin("ops", "test", "https://play.acme.example")) == refuse(
                "origin_not_found"
            )
        async with Change(s, ("ops", "origin.removed", detail)):
            account = await ask(s, RemoveOrigin("ops", "live", "HTTPS://play.acme.example"))
        assert account.origins == {"test": (), "live": ()}


async def test_an_environment_holds_128_origins(tmp_path: Path, autojump_clock: MockClock) -> None:
    async with ready_core(tmp_path) as s:
        for number in range(MAX_ORIGINS):
            await ask(s, AddOrigin("ops", "test", f"https://o{number}.acme.example"))
        assert MAX_ORIGINS == len(s.account().origins["test"]) == 128
        async with nothing(s):
            assert await ask(s, AddOrigin("ops", "test", "https://more.acme.example")) == refuse(
                "too_many_origins"
            )
            assert await ask(s, AddOrigin("ops", "test", "https://o7.acme.example")) == s.account()
        await ask(s, AddOrigin("ops", "live", "https://more.acme.example"))
        await ask(s, RemoveOrigin("ops", "test", "https://o7.acme.example"))
        assert isinstance(
            await ask(s, AddOrigin("ops", "test", "https://more.acme.example")), Account
        )


async def test_the_first_saving_of_a_webhook_mints_its_secret_and_later_ones_keep_it(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        async with Change(s, ("ops", "webhook.saved", {"environment": "test", "url": URL})):
            saved = await ask(s, SaveWebhook("ops", "test", URL))
        webhook, secret = saved.webhook, saved.secret
        assert (webhook.url, webhook.enabled, webhook.consecutive_failures, webhook.created_at) == (
            URL,
            True,
            0,
            at(0),
        )
        assert len(secret) == len("whsec_") + 43
        sealed = select(s, "select sealed_secret from webhook")
        await until(9)
        other = "https://hooks.acme-games.com/other"
        async with Change(s, ("ops", "webhook.saved", {"environment": "test", "url": other})):
            saved = await ask(s, SaveWebhook("ops", "test", other))
        assert saved.secret is None
        again = saved.webhook
        assert again == await find_webhook(s.reader, "acme", "test")
        assert (again.url, again.created_at, again.secret_rotated_at) == (other, at(0), at(0))
        assert select(s, "select sealed_secret from webhook") == sealed
        assert await find_webhook(s.reader, "acme", "live") is None
        async with nothing(s):
            assert await ask(s, SaveWebhook("ops", "live", "https://localhost/x")) == refuse(
                "invalid_webhook_url"
            )


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


async def test_what_the_platform_switched_off_only_the_platform_switches_on(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        await ask(s, SwitchAccount(PLATFORM, False))
        async with nothing(s):
            assert await ask(s, SwitchAccount("ops", True)) == refuse("role_forbidden")
        async with Change(s, (PLATFORM, "account.reactivated", {})):
            await ask(s, SwitchAccount(PLATFORM, True))


async def test_the_platform_takes_over_what_an_admin_has_switched_off(
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


async def test_a_rate_is_set_in_part_and_never_under_one(
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


# --- all of it ---


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
