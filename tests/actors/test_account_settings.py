"""Version pins, the end of an agreement to rake terms, and the terms of a new service."""

from pathlib import Path

import msgspec
from trio.testing import MockClock

from pgs.actors.messages.account.keys import MintKey, RotateKey
from pgs.actors.messages.account.lifecycle import EmergencyStop
from pgs.actors.messages.account.settings import AgreeTerms, EndTerms, SetDomain, SetPin
from pgs.actors.messages.catalogue import PublishTerms, TermsPublished
from pgs.domain.errors import BadRequest, refuse
from pgs.domain.members import PLATFORM
from pgs.domain.versions import ServedVersions
from pgs.storage.terms import Terms, find_terms, offered_terms
from tests.actors.people import ask
from tests.actors.ready_core import ready_core
from tests.actors.test_account import Change, events, nothing


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


async def test_an_agreement_ends_by_the_platform_alone_and_no_seat_is_taken_then(
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
        assert await find_terms(s.reader, 1) == shipped
        assert await find_terms(s.reader, 3) is None


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
