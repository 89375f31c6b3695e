"""What an open game socket says when the service cannot do what its player asks."""

import pytest

from pgs.actors.kernel.mail import Crashed, Interrupted, Overloaded
from pgs.actors.messages.account.lifecycle import SwitchAccount
from pgs.domain.errors import Refusal
from pgs.domain.members import PLATFORM
from pgs.http.api.endpoint import Plain, Reply
from pgs.http.api.services import Services
from pgs.http.game import socket as game_socket
from pgs.http.game.auth import Session, admit
from pgs.storage.transactions import StoreOutage, WriterFull
from tests.journeys.places import Place
from tests.journeys.play import match, mint, socket_of
from tests.journeys.service import in_process


async def test_a_message_that_meets_an_outage_is_refused_and_the_socket_stays_open(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = Interrupted("the end is not written yet")
    late.__cause__ = Overloaded("deadline")
    answers = {
        Overloaded("full"): "rate_limited",
        WriterFull(): "rate_limited",
        Crashed("broken"): "registry_unavailable",
        StoreOutage("no disk"): "registry_unavailable",
        Interrupted("the write failed"): "registry_unavailable",  # an actor has counted it
        late: "registry_unavailable",
    }
    async with in_process(place) as service:
        partner = await service.partner()
        match_id = await match(service.public, partner.test, "ann", "bob")
        token = await mint(service.public, partner.test, "ann")
        async with socket_of(service.public.next_url, token) as ann:
            for error, reason in answers.items():

                async def fail(*_: object, error: Exception = error) -> None:
                    raise error

                with monkeypatch.context() as broken:
                    broken.setattr(game_socket, "check_own", fail)
                    broken.setattr(game_socket, "find_standing", fail)
                    move = await ann.ask("move", matchId=match_id, ply=0, move="a1")
                    assert move == {"type": "error", "reason": reason, "ref": match_id}
                    assert await ann.ask("join") == {"type": "error", "reason": reason}
            assert (await ann.ask("join"))["type"] == "snapshot"
            assert (await ann.ask("move", matchId=match_id, ply=0, move="a1"))["type"] == "moved"
        _, metrics = await service.internal.get("/internal/metrics")
        for event, count in {"handler_crashed": 2, "read_failed": 2, "overloaded": 6}.items():
            assert f'pgs_events_total{{event="{event}"}} {count}.0'.encode() in metrics, event


async def test_a_player_whose_matches_cannot_be_read_is_told_so_and_may_still_play(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise StoreOutage("no disk")

    async with in_process(place) as service:
        partner = await service.partner()
        match_id = await match(service.public, partner.test, "ann", "bob")
        token = await mint(service.public, partner.test, "ann")
        monkeypatch.setattr(game_socket, "read_own", fail)
        async with socket_of(service.public.next_url, token, is_welcomed=False) as ann:
            assert await ann.hear() == {"type": "error", "reason": "registry_unavailable"}
            assert (await ann.ask("join"))["matchId"] == match_id


async def test_an_account_that_is_switched_off_during_the_handshake_gets_no_open_socket(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with in_process(place) as service:
        partner = await service.partner()
        token = await mint(service.public, partner.test, "ann")

        async def switch_off_after(
            services: Services, given: str | None
        ) -> Session | Refusal | Plain | Reply:
            verdict = await admit(services, given)
            off = SwitchAccount(PLATFORM, active=False)
            await service.account(partner.partner_id, off)
            return verdict

        monkeypatch.setattr(game_socket, "admit", switch_off_after)
        async with socket_of(service.public.next_url, token, is_welcomed=False) as ann:
            assert await ann.closed() == 4403
        assert service.core.parts.presence.find(("acme", "test", "ann")) is None


async def test_a_socket_that_forgets_its_matches_looks_them_up_again(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(game_socket, "OWN_MAX", 1)
    async with in_process(place) as service:
        partner = await service.partner()
        matches = [
            await match(service.public, partner.test, "ann", other, round_=other)
            for other in ("bob", "cat")
        ]
        token = await mint(service.public, partner.test, "ann")
        async with socket_of(service.public.next_url, token) as ann:
            for match_id in (*matches, *matches):
                snapshot = await ann.ask("join", matchId=match_id)
                assert (snapshot["type"], snapshot["matchId"]) == ("snapshot", match_id)
