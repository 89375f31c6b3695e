"""A game that an account is licensed for but that is not installed."""

import pytest

import pgs.app
from pgs.games.installed import load_games
from tests.journeys.client import check_refusal, ok
from tests.journeys.partners import BOTH, TEST_ONLY, seat_body
from tests.journeys.places import Place
from tests.journeys.service import in_process


async def test_a_licensed_game_that_is_not_installed_is_neither_shown_nor_launched(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    games = load_games()
    del games[TEST_ONLY]
    monkeypatch.setattr(pgs.app, "load_games", lambda: games)
    async with in_process(place) as service:
        key = (await service.partner()).test
        assert ok(await service.public.call("GET", "/partner/me", key))["games"] == [BOTH]
        body = seat_body("alice", "a", gameId=TEST_ONLY)
        for method, path in (
            ("POST", "/partner/sessions"),
            ("POST", "/partner/matches"),
            ("GET", f"/partner/tiers?gameId={TEST_ONLY}"),
        ):
            answer = await service.public.call(
                method, path, key, body if method == "POST" else None
            )
            check_refusal(answer, 403, "game_not_licensed")
