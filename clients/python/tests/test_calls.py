"""The calls: what is sent, what is returned, what is repeated and what is raised."""

from typing import cast

import httpx
import pytest

from clients.python.tests.scripted import (
    BASE,
    KEY,
    PURCHASE,
    SEAT,
    Said,
    Script,
    refusal,
)
from pgs_client import Client, NoAnswer, Retries, ServiceError, UnexpectedAnswer, errors
from pgs_client.errors import (
    BadRequest,
    RateLimited,
    ServerFailure,
    SettlementUnavailable,
    StakeBelowFloor,
    StakeDeclined,
)
from pgs_client.flows import Timeouts

LOST = httpx.ReadTimeout("nothing came")


def test_a_seat_is_sent_as_the_service_takes_it() -> None:
    script = Script((200, SEAT))
    seat = script.client().seat(**PURCHASE, partner_ref="basket 7")
    (request,) = script.requests
    assert (request.method, str(request.url)) == ("POST", f"{BASE}/partner/matches")
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.headers["x-service-api-version"] == "1"
    assert script.sent() == {
        "gameId": "tic-tac-toe",
        "playerId": "p-1",
        "tierId": "bronze",
        "stakeUsdCents": 100,
        "idempotencyKey": "order-1",
        "partnerRef": "basket 7",
    }
    assert (seat.seat_id, seat.match_id, seat.replayed) == ("sea_1", None, False)


@pytest.mark.parametrize(
    "failure",
    [
        LOST,
        httpx.ConnectError("refused"),
        httpx.RemoteProtocolError("cut short"),
        (503, refusal("settlement_unavailable")),
        (500, refusal(None)),
        (502, b"<html>Bad Gateway</html>"),
        (429, refusal("rate_limited"), {"Retry-After": "1"}),
        (200, b"<html>a captive portal</html>"),
        (200, {**SEAT, "idempotencyKey": "another"}),
        (200, {**SEAT, "stakeUsdCents": "100"}),
    ],
)
def test_a_seat_is_repeated_with_the_same_key_after_a_failure_that_may_pass(
    failure: Said,
) -> None:
    script = Script(failure, failure, (200, SEAT, {"Idempotent-Replayed": "true"}))
    assert script.client().seat(**PURCHASE).replayed
    assert [script.sent(number) for number in range(3)] == [script.sent()] * 3
    assert len(script.pauses) == 2


def test_an_answer_to_an_earlier_call_is_not_taken_for_one_to_a_later_call() -> None:
    again = (200, SEAT, {"X-Request-Id": "req_1"})
    script = Script(again, again, (200, {**SEAT, "status": "ended"}, {"X-Request-Id": "req_2"}))
    client = script.client()
    assert client.read_seat("sea_1").status == "waiting"
    assert client.read_seat("sea_1").status == "ended"


def test_pauses_double_with_jitter_up_to_the_longest() -> None:
    retries = Retries()
    least = [retries.pause_s(tried, None, 0.0) for tried in range(1, 8)]
    most = [retries.pause_s(tried, None, 1.0) for tried in range(1, 8)]
    assert least == [0.25, 0.5, 1.0, 2.0, 4.0, 4.0, 4.0]
    assert most == [2 * pause for pause in least]


def test_a_pause_is_never_shorter_than_retry_after() -> None:
    script = Script((429, refusal("rate_limited"), {"Retry-After": "7"}), (200, SEAT))
    script.client().seat(**PURCHASE)
    (pause,) = script.pauses
    assert 7 <= pause <= 7.5


def test_a_retry_after_that_is_too_long_is_raised_at_once() -> None:
    script = Script((429, refusal("rate_limited"), {"Retry-After": "3600"}))
    with pytest.raises(RateLimited) as raised:
        script.client().seat(**PURCHASE)
    assert raised.value.retry_after_s == 3600
    assert script.pauses == []


def test_a_429_without_a_usable_retry_after_waits_a_second() -> None:
    script = Script((429, refusal("rate_limited"), {"Retry-After": "soon"}), (200, SEAT))
    script.client().seat(**PURCHASE)
    assert script.pauses[0] >= 1


def test_a_pending_seat_is_asked_for_again_until_it_is_decided() -> None:
    pending = {**SEAT, "status": "pending", "stakeStatus": "pending"}
    script = Script((200, pending), (503, refusal("settlement_unavailable")), (200, SEAT))
    assert script.client().seat(**PURCHASE).status == "waiting"
    assert len(script.requests) == 3


def test_a_seat_that_stays_pending_is_returned_as_it_is() -> None:
    pending = {**SEAT, "status": "pending"}
    script = Script((200, pending), (200, pending))
    assert script.client(Retries(tries=2)).seat(**PURCHASE).status == "pending"


def test_after_the_last_try_the_last_failure_is_raised() -> None:
    script = Script(LOST, (503, refusal("settlement_unavailable")))
    with pytest.raises(SettlementUnavailable):
        script.client(Retries(tries=2)).seat(**PURCHASE)
    script = Script((503, refusal("settlement_unavailable")), LOST)
    with pytest.raises(NoAnswer) as raised:
        script.client(Retries(tries=2)).seat(**PURCHASE)
    assert raised.value.__cause__ is LOST


def test_retries_without_a_try_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Script().client(Retries(tries=0)).me()


def test_a_refusal_is_raised_as_the_type_of_its_code_and_is_not_repeated() -> None:
    body = refusal("stake_below_floor", floorUsdCents=100)
    script = Script((400, body, {"X-Request-Id": "req_1"}))
    with pytest.raises(StakeBelowFloor) as raised:
        script.client().seat(**PURCHASE)
    assert isinstance(raised.value, BadRequest)
    assert raised.value.fields["floorUsdCents"] == 100
    assert (raised.value.request_id, raised.value.status) == ("req_1", 400)
    assert raised.value.answer is not None
    assert raised.value.answer.headers["x-request-id"] == "req_1"
    assert str(raised.value) == "400 stake_below_floor A sentence."


def test_a_declined_stake_is_raised_with_its_seat() -> None:
    script = Script((402, {**refusal("stake_declined"), **SEAT, "status": "declined"}))
    with pytest.raises(StakeDeclined) as raised:
        script.client().seat(**PURCHASE)
    assert raised.value.seat.status == "declined"


@pytest.mark.parametrize(
    ("status", "general"),
    [
        (400, errors.BadRequest),
        (401, errors.Unauthorized),
        (402, errors.PaymentRequired),
        (403, errors.Forbidden),
        (404, errors.NotFound),
        (409, errors.Conflict),
        (422, errors.Unprocessable),
        (429, errors.TooManyRequests),
        (503, ServerFailure),
        (418, ServiceError),
    ],
)
def test_an_unknown_reason_is_the_failure_that_its_status_describes(
    status: int, general: type[ServiceError]
) -> None:
    for reason in ("brand_new", None, 7, "settlement_unavailable" if status < 418 else "x"):
        script = Script((status, refusal(cast(str, reason))))
        with pytest.raises(ServiceError) as raised:
            script.client(Retries(tries=1)).me()
        assert type(raised.value) is general


def test_every_code_has_its_type() -> None:
    assert len(errors.BY_CODE) > 30
    for code, kind in errors.BY_CODE.items():
        assert kind.__name__ == "".join(word.capitalize() for word in code.split("_"))


@pytest.mark.parametrize("status", [201, 204, 301, 302, 307])
def test_a_redirect_and_other_successes_are_unexpected_and_not_repeated(status: int) -> None:
    script = Script((status, b"", {"Location": "https://elsewhere.example/"}))
    with pytest.raises(UnexpectedAnswer):
        script.client().me()
    assert len(script.requests) == 1


def test_unknown_fields_and_values_are_kept() -> None:
    script = Script((200, {**SEAT, "status": "hovering", "heldBack": "player_absent"}))
    seat = script.client().read_seat("sea_1")
    assert (seat.status, seat.raw["heldBack"]) == ("hovering", "player_absent")


def test_the_name_of_a_seat_cannot_leave_its_place_in_the_path() -> None:
    script = Script((404, refusal("seat_not_found")))
    with pytest.raises(errors.SeatNotFound):
        script.client().cancel("../matches?x=1")
    assert script.requests[0].url.raw_path == b"/partner/seats/..%2Fmatches%3Fx%3D1/cancel"
    assert script.requests[0].headers["content-length"] == "0"


@pytest.mark.parametrize("seat_id", ["", ".", ".."])
def test_an_id_that_would_change_the_path_is_refused(seat_id: str) -> None:
    with pytest.raises(ValueError, match="no id"):
        Script().client().cancel(seat_id)


@pytest.mark.parametrize(
    ("base_url", "key"),
    [
        ("http://games.example", KEY),
        ("games.example", KEY),
        ("https://games.example?x=1", KEY),
        (BASE, "pgs_test_short"),
        (BASE, KEY + "\n"),
    ],
)
def test_an_address_or_a_key_that_is_wrong_is_refused_without_showing_the_key(
    base_url: str, key: str
) -> None:
    with pytest.raises(ValueError, match=r"base_url|the key") as raised:
        Client(base_url, key)
    assert key.strip() not in str(raised.value)


def test_plain_http_is_taken_for_this_machine_and_on_request() -> None:
    Client("http://127.0.0.1:8000", KEY).close()
    Client("http://games.internal", KEY, plain_http=True).close()


def test_a_client_shows_its_environment_and_never_its_key() -> None:
    with Script((500, refusal(None))).client(Retries(tries=1)) as client:
        assert repr(client) == f"Client({BASE!r}, environment='test')"
        with pytest.raises(ServerFailure) as raised:
            client.me()
    assert KEY not in repr(raised.value)
    live = Client(BASE, "pgs_live_" + "k" * 46, timeouts=Timeouts(answer_s=1))
    assert live.environment == "live"
    live.close()
