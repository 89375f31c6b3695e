"""Licences, terms, prices, origins and version pins of an account."""

from pathlib import Path

import msgspec
from trio.testing import MockClock

from pgs.actors.messages.account.keys import MintKey, RotateKey
from pgs.actors.messages.account.lifecycle import EmergencyStop
from pgs.actors.messages.account.settings import (
    AddOrigin,
    AgreeTerms,
    ChangeLicence,
    EndTerms,
    RemoveOrigin,
    SetDomain,
    SetPin,
    SetPrices,
)
from pgs.actors.messages.catalogue import PublishTerms, TermsPublished
from pgs.domain.accounts import Account, Licence
from pgs.domain.errors import BadRequest, Refusal, refuse
from pgs.domain.licences import Step
from pgs.domain.members import PLATFORM
from pgs.domain.origins import MAX_ORIGINS
from pgs.domain.tiers import Price
from pgs.domain.versions import ServedVersions
from pgs.storage.terms import Terms, offered_terms
from tests.actors.account_changes import Change, events, nothing
from tests.actors.people import ask
from tests.actors.raw_rows import select
from tests.actors.ready_core import GAME, at, ready_core, until


async def test_a_pin_moves_to_any_served_version_and_back(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path):
        pass
    async with ready_core(tmp_path, seed=1) as s:
        partner = s.partner()
        partner.parts = msgspec.structs.replace(
            partner.parts, versions=ServedVersions(frozenset({1, 3}), 3)
        )
        async with nothing(s):
            assert await ask(s, SetPin("ada", "live", 2)) == refuse("unsupported_api_version")
            assert await ask(s, SetPin("ada", "live", 0)) == refuse("unsupported_api_version")
            assert await ask(s, SetPin("ada", "live", 1)) == s.account()
        async with Change(s, ("ada", "api_version.pinned", {"environment": "live", "version": 3})):
            assert (await ask(s, SetPin("ada", "live", 3))).pins == {"test": 1, "live": 3}
        async with Change(s, ("ada", "api_version.pinned", {"environment": "live", "version": 1})):
            assert (await ask(s, SetPin("ada", "live", 1))).pins == {"test": 1, "live": 1}


async def test_only_the_platform_ends_an_agreement_and_no_seat_is_taken_after_it(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        async with nothing(s):
            assert await ask(s, EndTerms("ada")) == refuse("role_forbidden")
        async with Change(s, (PLATFORM, "rake_terms.ended", {"version": 1})):
            account = await ask(s, EndTerms(PLATFORM))
        assert (account.agreed_terms_version, account.agreed_terms_at) == (None, None)
        assert await s.ask_seat("alice") == refuse("rake_terms_not_agreed")
        async with nothing(s):
            assert isinstance(await ask(s, EndTerms(PLATFORM)), BadRequest)
        await ask(s, AgreeTerms("ada", 1))
        assert (await s.seat("alice")).status == "waiting"


async def test_a_new_service_offers_the_terms_that_it_ships_with_until_others_are_published(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        shipped = await offered_terms(s.reader)
        assert shipped is not None
        assert (shipped.version, shipped.text.startswith("# Rake terms, version 1\n")) == (1, True)
        assert await s.core.directory.catalogue().ask(PublishTerms("Others")) == TermsPublished(2)
    async with ready_core(tmp_path, seed=1) as s:
        offered = await offered_terms(s.reader)
        assert offered == Terms(2, "Others", offered.published_at if offered else 0)
        published = select(s, "select version, text from terms order by version")
        assert published == [(1, shipped.text), (2, "Others")]


async def test_every_action_of_the_event_log_is_a_noun_and_a_verb(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        key_id = (await ask(s, MintKey("ada", "test", "k"))).key.key_id
        await ask(s, RotateKey("ada", key_id))
        await ask(s, EmergencyStop("ada", "test"))
        await ask(s, SetDomain("ada", "ada@acme.example", "acme.example"))
        assert all(len(action.split(".")) == 2 for _, action, _, _ in events(s))
        assert len(events(s)) == 2 + 4


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


async def test_an_origin_is_added_once_and_removed_in_any_spelling(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        detail = {"environment": "live", "origin": "https://play.acme.example"}
        async with Change(s, ("ops", "origin.added", detail)):
            account = await ask(s, AddOrigin("ops", "live", "https://Play.Acme.example:443"))
        assert account.origins == {"test": (), "live": ("https://play.acme.example",)}
        async with nothing(s):
            assert await ask(s, AddOrigin("ops", "live", "https://play.acme.example")) == account
            plain_http = await ask(s, AddOrigin("ops", "live", "http://play.acme.example"))
            assert isinstance(plain_http, Refusal)
            assert plain_http.reason == "invalid_origin"
            assert "https only" in str(plain_http.message)
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
