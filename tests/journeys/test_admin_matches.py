"""Looking up matches, and all that is known of one."""

from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
import trio

from pgs.actors.messages.account.settings import AgreeTerms
from pgs.actors.messages.seats import CancelSeat, DecideMatch, Seated, StakeSeat
from pgs.actors.messages.table import PlayMove
from pgs.domain.days import day_of, format_day
from pgs.domain.environments import Environment
from pgs.domain.members import PLATFORM
from pgs.domain.seats import Seat, SeatRequest
from pgs.storage import support
from tests.journeys.admin_client import AdminClient, open_admin
from tests.journeys.client import check_plain, check_refusal
from tests.journeys.partners import BOTH, BRONZE
from tests.journeys.places import Place
from tests.patience import PATIENCE_S


@pytest.fixture
async def admin(place: Place) -> AsyncIterator[AdminClient]:
    """An account that has agreed to the terms, with its first admin."""
    async with open_admin(place) as opened:
        await opened.service.account("acme", AgreeTerms(PLATFORM, 1))
        yield opened


async def seat(
    admin: AdminClient,
    player: str,
    key: str,
    ref: str | None = None,
    environment: Environment = "test",
) -> Seat:
    seats = admin.service.core.directory.partner("acme").seats(environment)
    reply = await seats.ask(StakeSeat(SeatRequest(player, BOTH, BRONZE, 100, key, ref)))
    assert isinstance(reply, Seated), reply
    return reply.seat


async def listed(admin: AdminClient, query: str = "") -> Any:
    return await admin.call_ok("GET", f"matches?environment=test{query}")


async def test_matches_are_found_by_player_reference_seat_and_key_the_newest_first(
    admin: AdminClient,
) -> None:
    one = await seat(admin, "ann", "a1", "order-1")
    two = await seat(admin, "bob", "b1", "order-1")
    three = await seat(admin, "ann", "a2", "order-2")
    four = await seat(admin, "cleo", "c1")
    waiting = await seat(admin, "dan", "d1", "order-3")
    alone = await seat(admin, "dan", "d2", "order-4")
    seats = admin.service.core.directory.partner("acme").seats("test")
    closed = await seats.ask(CancelSeat(alone.seat_id))
    assert isinstance(closed, Seat)
    first, second, third = two.match_id, four.match_id, closed.match_id
    for query, expected in (
        ("", [third, second, first]),
        ("&playerId=ann", [second, first]),
        ("&playerId=bob", [first]),
        ("&playerId=nobody", []),
        ("&partnerRef=order-1", [first]),
        ("&partnerRef=order-2&playerId=ann", [second]),
        ("&partnerRef=order-2&playerId=cleo", []),
        (f"&seatId={three.seat_id}", [second]),
        (f"&seatId={three.seat_id}&playerId=bob", []),
        (f"&seatId={waiting.seat_id}", []),
        ("&idempotencyKey=b1", [first]),
        ("&idempotencyKey=none", []),
    ):
        page = await listed(admin, query)
        assert [match["matchId"] for match in page["matches"]] == expected, query
        assert (page["nextCursor"], page["hasMore"]) == (None, False)
    assert one.match_id is None, "it was waiting when it was taken"
    assert (await admin.call_ok("GET", "matches?environment=live"))["matches"] == []


async def test_the_account_counts_what_is_open_in_each_environment(admin: AdminClient) -> None:
    none = {"waitingSeats": 0, "runningMatches": 0}
    assert (await admin.call_ok("GET", "account"))["open"] == {"live": none, "test": none}
    for player in ("ann", "bob", "cleo"):
        await seat(admin, player, player)
    await seat(admin, "ann", "ann", environment="live")
    assert (await admin.call_ok("GET", "account"))["open"] == {
        "live": {"waitingSeats": 1, "runningMatches": 0},
        "test": {"waitingSeats": 1, "runningMatches": 1},
    }


async def test_a_cursor_leads_through_the_list(admin: AdminClient) -> None:
    expected = []
    for number in range(3):
        await seat(admin, "ann", f"a{number}")
        expected.append((await seat(admin, "bob", f"b{number}")).match_id)
    found, cursor = [], ""
    for _ in range(3):
        page = await listed(admin, f"&limit=1{cursor}")
        found += [match["matchId"] for match in page["matches"]]
        cursor = f"&cursor={page['nextCursor']}"
    assert found == expected[::-1]
    check_refusal(
        await admin.call("GET", "matches?environment=test&cursor=x"), 400, "invalid_cursor"
    )
    check_plain(await admin.call("GET", "matches?environment=test&limit=0"), "limit")


@pytest.fixture
async def days(admin: AdminClient) -> dict[str, str]:
    """The ids of a match that ended, one of a lone seat, and one that runs."""
    seats = admin.service.core.directory.partner("acme").seats("test")
    await seat(admin, "ann", "a1", "order-1")
    ended = (await seat(admin, "bob", "b1")).match_id
    assert ended is not None
    await seats.ask(DecideMatch(ended, "ended", "bob", "decided_by_test_key"))
    closed = await seats.ask(CancelSeat((await seat(admin, "ann", "a2")).seat_id))
    assert isinstance(closed, Seat)
    await seat(admin, "ann", "a3")
    running = (await seat(admin, "cleo", "c1")).match_id
    return {"E": ended, "N": closed.match_id or "", "S": running or ""}


def around(day: int, from_: int = 0, to: int = 0) -> str:
    return f"&from={format_day(day + from_)}&to={format_day(day + to)}"


async def test_matches_are_found_by_status_and_by_the_day_on_which_they_ended_or_began(
    admin: AdminClient, days: dict[str, str]
) -> None:
    (first,) = (await listed(admin, "&status=ended"))["matches"]
    (last,) = (await listed(admin, "&status=started"))["matches"]
    then, now = day_of(first["endedAt"]), day_of(last["startedAt"])
    for query, expected in (
        ("&status=started", "S"),
        ("&status=ended", "E"),
        ("&status=no_contest", "N"),
        (around(then, 0, 1), "ENS"),
        (around(then, -91, 0) + "&status=ended", "E"),
        (around(now, 0, 91) + "&status=started", "S"),
        (around(then, -2, -1), ""),
        (around(now, 1, 2), ""),
        (around(now, 1, 2) + "&status=started", ""),
        ("&from=00010101&to=00010102", ""),
        ("&from=99990101&to=99990102", ""),
        ("&playerId=ann&status=ended", "E"),
        (f"&playerId=ann{around(then, 0, 1)}", "ENS"),
        (f"&playerId=ann{around(then, -2, -1)}", ""),
        (f"&partnerRef=order-1{around(then)}", "E"),
        (f"&partnerRef=order-1{around(then, 1, 1)}", ""),
        ("&idempotencyKey=c1&status=started", "S"),
        ("&idempotencyKey=c1&status=ended", ""),
    ):
        page = await listed(admin, query)
        # Those of the same second are in no order that a caller could know.
        found = {match["matchId"] for match in page["matches"]}
        assert found == {days[name] for name in expected}, query


async def test_matches_are_found_by_game_and_by_tier(
    admin: AdminClient, days: dict[str, str]
) -> None:
    for query, expected in (
        (f"&gameId={BOTH}", "ENS"),
        (f"&tierId={BRONZE}", "ENS"),
        (f"&gameId={BOTH}&tierId={BRONZE}&status=ended", "E"),
        (f"&gameId={BOTH}&status=started", "S"),
        (f"&gameId={BOTH}&playerId=bob", "E"),
        ("&gameId=chess", ""),
        ("&gameId=", ""),
        ("&tierId=none", ""),
        (f"&gameId={BOTH}&tierId=none", ""),
        ("&gameId=chess&playerId=bob", ""),
        ("&tierId=none&partnerRef=order-1&status=ended", ""),
    ):
        page = await listed(admin, query)
        assert {match["matchId"] for match in page["matches"]} == {days[n] for n in expected}, query
        assert page["hasMore"] is False


async def test_a_page_of_a_game_may_be_empty_and_leads_on(
    admin: AdminClient, days: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seats = admin.service.core.directory.partner("acme").seats("test")
    for number in range(2):
        await seat(admin, f"dan-{number}", f"d{number}")
        ended = (await seat(admin, f"eve-{number}", f"e{number}")).match_id
        assert ended is not None
        await seats.ask(DecideMatch(ended, "ended", f"eve-{number}", "decided_by_test_key"))
        days[ended] = ended
    monkeypatch.setattr(support, "SCANNED_FOR_PAGE", 1)
    for game, each, expected in (("chess", [], set()), (BOTH, None, set(days.values()))):
        found, cursor = set[str](), ""
        for more in (True, True, False):
            page = await listed(admin, f"&gameId={game}{cursor}")
            assert page["hasMore"] is more
            assert each is None or page["matches"] == each
            found |= {match["matchId"] for match in page["matches"]}
            cursor = f"&cursor={page['nextCursor']}"
        assert found == expected


async def test_a_cursor_leads_through_the_matches_of_some_days_and_through_no_other_list(
    admin: AdminClient, days: dict[str, str]
) -> None:
    (ended,) = (await listed(admin, "&status=ended"))["matches"]
    asked = f"{around(day_of(ended['endedAt']), 0, 1)}&limit=1"
    found, cursor = [], ""
    for more in (True, True, False):
        page = await listed(admin, asked + cursor)
        assert page["hasMore"] is more
        found += [match["matchId"] for match in page["matches"]]
        cursor = f"&cursor={page['nextCursor']}"
        if more:
            refused = await admin.call("GET", f"matches?environment=test{cursor}")
            check_refusal(refused, 400, "invalid_cursor")
    assert sorted(found) == sorted(days.values())
    of_all = (await listed(admin, "&limit=1"))["nextCursor"]
    refused = await admin.call("GET", f"matches?environment=test{asked}&cursor={of_all}")
    check_refusal(refused, 400, "invalid_cursor")


async def test_a_page_of_a_players_matches_may_be_empty_and_leads_on(
    admin: AdminClient, days: dict[str, str]
) -> None:
    page = await listed(admin, "&playerId=ann&status=ended&limit=1")
    assert (page["matches"], page["hasMore"]) == ([], True)
    found = []
    while page["hasMore"]:
        cursor = f"&cursor={page['nextCursor']}"
        page = await listed(admin, f"&playerId=ann&status=ended&limit=1{cursor}")
        found += [match["matchId"] for match in page["matches"]]
    assert found == [days["E"]]


async def test_an_unknown_status_and_days_that_are_not_a_range_are_refused(
    admin: AdminClient,
) -> None:
    for text in ("", "open", "STARTED", "started,ended"):
        answer = await admin.call("GET", f"matches?environment=test&status={text}")
        check_plain(answer, "status")
    for query, reason, extra in (
        ("from=20261101", "missing_parameter", {"parameter": "to"}),
        ("to=20261101", "missing_parameter", {"parameter": "from"}),
        ("from=20261131&to=20261201", "malformed_day", {"parameter": "from"}),
        ("from=20261101&to=tomorrow", "malformed_day", {"parameter": "to"}),
        ("from=20261102&to=20261101", "range_backwards", {}),
        ("from=20260101&to=20260501", "range_too_wide", {"maxRangeDays": 92}),
    ):
        answer = await admin.call("GET", f"matches?environment=test&{query}&cursor=x")
        check_refusal(answer, 400, reason, **extra)


async def test_a_match_is_shown_with_its_seats_ledger_moves_and_nudges(admin: AdminClient) -> None:
    await seat(admin, "ann", "a1", "order-1")
    match_id = (await seat(admin, "bob", "b1")).match_id
    assert match_id is not None
    partner = admin.service.core.directory.partner("acme")
    await partner.table(match_id).ask(PlayMove("ann", 0, "b2"))
    await partner.seats("test").ask(DecideMatch(match_id, "ended", "bob", "decided_by_test_key"))

    async def told() -> Any:
        return await admin.call_ok("GET", f"matches/{match_id}?environment=test")

    life = await told()
    with trio.fail_after(PATIENCE_S):
        while "payoutUsdCents" not in life["match"]["seats"][0]:
            life = await told()
    assert life["match"]["matchId"] == match_id
    assert [one["playerId"] for one in life["seats"]] == ["ann", "bob"]
    assert life["seats"][0]["partnerRef"] == "order-1"
    assert [one.get("partnerRef") for one in life["match"]["seats"]] == ["order-1", None]
    assert sorted((line["kind"], line["amountUsdCents"]) for line in life["ledger"]) == [
        ("charge", 100),
        ("charge", 100),
        ("prize", 80),
        ("prize", 100),
        ("rake", 20),
    ]
    assert [(move["ply"], move["side"], move["move"]) for move in life["moves"]] == [(0, 0, "b2")]
    assert "states" not in life
    asked = f"matches/{match_id}?environment=test&states="
    states = (await admin.call_ok("GET", asked + "true"))["states"]
    rules = admin.service.core.parts.games[BOTH]
    before = rules.initial()
    shown = [rules.view(before), rules.view(rules.apply(before, "b2"))]
    assert states == msgspec.json.decode(msgspec.json.encode(shown))
    check_plain(await admin.call("GET", asked + "1"), "states")
    assert life["nudges"] == []


@pytest.mark.parametrize("path", ["matches", "matches/mat_unknown"])
async def test_the_environment_has_to_be_named(admin: AdminClient, path: str) -> None:
    check_refusal(await admin.call("GET", path), 400, "missing_parameter", parameter="environment")
    check_plain(await admin.call("GET", f"{path}?environment=prod"), "environment")


async def test_a_match_of_the_other_environment_is_not_found(admin: AdminClient) -> None:
    await seat(admin, "ann", "a1")
    match_id = (await seat(admin, "bob", "b1")).match_id
    for path in (f"matches/{match_id}?environment=live", "matches/mat_unknown?environment=test"):
        check_refusal(await admin.call("GET", path), 404, "match_not_found")
