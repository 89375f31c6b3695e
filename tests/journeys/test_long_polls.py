"""Long polls of the results feed: what wakes them, what ends them, how many may wait."""

from functools import partial

import pytest
import trio

from pgs.actors.messages.account.keys import RevokeKey
from pgs.actors.messages.account.lifecycle import SwitchAccount
from pgs.domain.members import PLATFORM
from pgs.http.partner import results
from tests.journeys.client import Reply, check_refusal, ok
from tests.journeys.launching import read_feed, seat_player
from tests.journeys.partners import Partner
from tests.journeys.places import Place
from tests.journeys.service import Service, in_process, until
from tests.journeys.ways import LANE


async def test_a_long_poll_is_woken_by_a_commit(place: Place) -> None:
    async with in_process(place) as service, trio.open_nursery() as nursery:
        partner = await service.partner()
        ok(await seat_player(service, partner.test, "alice", "a"))
        answers: list[Reply] = []
        nursery.start_soon(_poll, service, partner, answers)
        await _until_held(service, partner)
        assert answers == []
        ok(await seat_player(service, partner.test, "bob", "b"))
        await until(lambda: bool(answers))
        assert [row["outcome"] for row in ok(answers[0])["results"]] == ["started", "started"]


async def _poll(service: Service, partner: Partner, answers: list[Reply]) -> None:
    """Add the answer to a long poll of a partner to `answers`."""
    answers.append(await read_feed(service.public, partner.test, wait_s=25))


async def _until_held(service: Service, partner: Partner, polls: int = 1) -> None:
    """Return once `polls` long polls of a partner are held."""
    await until(lambda: service.core.parts.bells.count_of(partner.partner_id) >= polls)


@pytest.mark.parametrize("lane", LANE)
async def test_a_client_that_leaves_its_long_poll_frees_its_place(
    place: Place, monkeypatch: pytest.MonkeyPatch, lane: str
) -> None:
    monkeypatch.setattr(results, "WAIT_MAX_S", 600)  # so long that no poll ends by itself
    async with in_process(place, lane=lane) as service:
        partner = await service.partner()
        async with trio.open_nursery() as polling:
            polling.start_soon(partial(read_feed, service.public, partner.test, wait_s=600))
            await _until_held(service, partner)
            polling.cancel_scope.cancel()
        await until(lambda: not service.core.parts.bells.held())


async def test_a_long_poll_without_news_ends_empty_with_a_cursor_to_go_on_from(
    place: Place,
) -> None:
    async with in_process(place) as service:
        key = (await service.partner()).test
        begin = trio.current_time()
        page = ok(await read_feed(service.public, key, wait_s=1))
        assert trio.current_time() - begin >= 1
        assert (page["results"], page["hasMore"]) == ([], False)
        ok(await seat_player(service, key, "alice", "a"))
        ok(await seat_player(service, key, "bob", "b"))
        assert len(ok(await read_feed(service.public, key, page["nextCursor"]))["results"]) == 2


async def test_a_revoked_key_ends_its_long_poll_with_a_401_without_rate_headers(
    place: Place,
) -> None:
    async with in_process(place) as service, trio.open_nursery() as nursery:
        partner = await service.partner()
        answers: list[Reply] = []
        nursery.start_soon(_poll, service, partner, answers)
        await _until_held(service, partner)
        await service.account(partner.partner_id, RevokeKey(PLATFORM, partner.key_ids["test"]))
        await until(lambda: bool(answers))
        check_refusal(answers[0], 401, "invalid_key")


async def test_a_deactivation_ends_long_polls_as_partner_inactive(place: Place) -> None:
    async with in_process(place) as service, trio.open_nursery() as nursery:
        partner = await service.partner()
        answers: list[Reply] = []
        nursery.start_soon(_poll, service, partner, answers)
        await _until_held(service, partner)
        await service.account(partner.partner_id, SwitchAccount(PLATFORM, False))
        await until(lambda: bool(answers))
        check_refusal(answers[0], 403, "partner_inactive")


async def test_the_33rd_long_poll_of_a_partner_is_answered_at_once(place: Place) -> None:
    async with in_process(place) as service, trio.open_nursery() as nursery:
        partner = await service.partner()
        answers: list[Reply] = []
        for _ in range(32):
            nursery.start_soon(_poll, service, partner, answers)
        await _until_held(service, partner, 32)
        assert ok(await read_feed(service.public, partner.test, wait_s=25))["results"] == []
        assert answers == []  # if it had been held too, these would have been answered before it
        ok(await seat_player(service, partner.test, "alice", "a"))
        ok(await seat_player(service, partner.test, "bob", "b"))
        await until(lambda: len(answers) == 32)
        assert all(len(ok(answer)["results"]) == 2 for answer in answers)
