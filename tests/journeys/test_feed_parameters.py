"""The parameters of the results feed: cursors, limits, waiting."""

import base64
import time
from collections.abc import Callable
from typing import Any

import pytest
import trio

from pgs.domain.cursors import make_cursor
from tests.journeys.client import SyncClient, check_plain, check_refusal, ok
from tests.journeys.partners import Partner, seat_body
from tests.journeys.service import Service, SharedService
from tests.journeys.ways import both_ways
from tests.patience import PATIENCE_S

shared = both_ways()


def _cursor(client: SyncClient, key: str) -> str:
    return str(ok(client.call("GET", "/partner/results", key))["nextCursor"])


def _forge(shared: SharedService, kind: str, partner_id: str, position: str | int) -> str:
    async def work(service: Service) -> str:
        return make_cursor(service.core.parts.ring, kind, partner_id, "test", position)

    return shared.do(work)


def test_a_cursor_of_another_partner_or_environment_is_invalid(
    shared: SharedService, partner: Partner
) -> None:
    client, other = shared.client, shared.partner()
    cursors = {key: _cursor(client, key) for key in (partner.test, partner.live, other.test)}
    for issued_to, cursor in cursors.items():
        for key in cursors:
            reply = client.call("GET", f"/partner/results?cursor={cursor}", key)
            if key == issued_to:
                ok(reply)
            else:
                check_refusal(reply, 400, "invalid_cursor")


def test_digests_that_wait_for_each_other_do_not_hold_up_a_feed(
    shared: SharedService, partner: Partner
) -> None:
    async def with_a_digest_under_way(service: Service) -> int:
        database = service.core_of(partner.partner_id).parts.database
        async with database.digest_limit:
            with trio.fail_after(PATIENCE_S):
                reply = await service.public.call("GET", "/partner/results?since=0", partner.test)
        return reply.status

    assert shared.do(with_a_digest_under_way) == 200


@pytest.mark.parametrize(
    "alter",
    [
        lambda cursor: cursor[:-1],
        lambda cursor: cursor + "0",
        lambda cursor: cursor + "=",
        lambda cursor: cursor[:-1] + ("A" if cursor[-1] != "A" else "B"),
        lambda cursor: "x" + cursor,
        lambda cursor: cursor.upper(),
        lambda cursor: cursor.replace(".", "%2e") + "%20",
        lambda cursor: cursor.rpartition(".")[0],
        lambda cursor: ".".join(
            [
                *cursor.split(".")[:2],
                base64.urlsafe_b64encode(b"\x94\xa7results").decode().rstrip("="),
                cursor.split(".")[3],
            ]
        ),
        lambda cursor: "",
        lambda cursor: "0",
        lambda cursor: "null",
        lambda cursor: "%EF%BC%91",
        lambda cursor: "x" * 3000,
    ],
)
def test_an_altered_or_invented_cursor_is_invalid(
    client: SyncClient, known: Partner, alter: Callable[[str], str]
) -> None:
    reply = client.call(
        "GET", f"/partner/results?cursor={alter(_cursor(client, known.test))}", known.test
    )
    check_refusal(reply, 400, "invalid_cursor")
    assert reply.header("ratelimit") is not None


def test_a_cursor_of_another_list_is_invalid(shared: SharedService, known: Partner) -> None:
    for kind, position, expected in (
        ("results", 0, 200),
        ("invoices", 0, 400),
        ("lines", 0, 400),
        ("results", "0", 400),
    ):
        cursor = _forge(shared, kind, known.partner_id, position)
        reply = shared.client.call("GET", f"/partner/results?cursor={cursor}", known.test)
        assert (reply.status, reply.reason) == (
            expected,
            None if expected == 200 else "invalid_cursor",
        )


@pytest.mark.parametrize("value", ["1", "100", "500", "0100"[1:]])
def test_a_limit_from_1_to_500_is_accepted(client: SyncClient, known: Partner, value: str) -> None:
    ok(client.call("GET", f"/partner/results?limit={value}", known.test))


@pytest.mark.parametrize(
    "value",
    ["0", "501", "-1", "%2B1", "1.0", "1e2", "", "%201", "1_0", "%EF%BC%91", "ten", "9" * 50],
)
def test_any_other_limit_is_a_plain_400(client: SyncClient, known: Partner, value: str) -> None:
    check_plain(client.call("GET", f"/partner/results?limit={value}", known.test), "limit")


@pytest.mark.parametrize("value", ["26", "-1", "%2B1", "0.5", "", "1e1", "%EF%BC%91", "9" * 50])
def test_a_wait_beyond_25_seconds_or_no_number_is_a_plain_400(
    client: SyncClient, known: Partner, value: str
) -> None:
    check_plain(
        client.call("GET", f"/partner/results?waitSeconds={value}", known.test), "waitSeconds"
    )


def test_a_wait_of_25_seconds_is_answered_at_once_when_there_are_rows(
    client: SyncClient, partner: Partner
) -> None:
    for name in ("alice", "bob"):
        ok(client.call("POST", "/partner/matches", partner.test, seat_body(name, name)))
    assert (
        len(ok(client.call("GET", "/partner/results?waitSeconds=25", partner.test))["results"]) == 2
    )


def test_a_page_has_at_most_limit_rows_and_says_whether_there_are_more(
    client: SyncClient, partner: Partner
) -> None:
    for name in ("alice", "bob"):
        ok(client.call("POST", "/partner/matches", partner.test, seat_body(name, name)))
    page = ok(client.call("GET", "/partner/results?limit=1", partner.test))
    assert (len(page["results"]), page["hasMore"]) == (1, True)
    rest = ok(
        client.call("GET", f"/partner/results?limit=1&cursor={page['nextCursor']}", partner.test)
    )
    assert (len(rest["results"]), rest["hasMore"]) == (1, False)


def test_since_begins_at_the_first_row_that_changed_then_or_later(
    shared: SharedService, partner: Partner
) -> None:
    client = shared.client

    def page(query: str) -> dict[str, Any]:
        answer: dict[str, Any] = ok(client.call("GET", f"/partner/results{query}", partner.test))
        return answer

    empty = page("?since=0")
    assert empty["results"] == []
    for name in ("alice", "bob"):
        ok(client.call("POST", "/partner/matches", partner.test, seat_body(name, name)))
    rows = page("")["results"]
    changed = rows[0]["updatedAt"]
    assert page(f"?since={changed}")["results"] == rows
    assert page("?since=0&limit=1")["results"] == rows[:1]
    later = page(f"?since={changed + 1000}")
    assert (later["results"], later["hasMore"]) == ([], False)
    for start in (empty, later):
        assert page(f"?cursor={start['nextCursor']}")["results"] in (rows, [])
    assert page(f"?cursor={empty['nextCursor']}")["results"] == rows


@pytest.mark.parametrize("value", ["-1", "%2B1", "1.0", "1e2", "", "now", "9" * 16])
def test_a_since_that_is_no_time_is_a_plain_400(
    client: SyncClient, known: Partner, value: str
) -> None:
    check_plain(client.call("GET", f"/partner/results?since={value}", known.test), "since")


def test_a_since_in_milliseconds_is_refused_and_passes_over_no_row(
    client: SyncClient, known: Partner
) -> None:
    now = int(time.time())
    for value in (1000 * now, now + 100_000):
        reply = client.call("GET", f"/partner/results?since={value}", known.test)
        check_plain(reply, "since")
        assert "looks like milliseconds" in reply.json["error"]
    ok(client.call("GET", f"/partner/results?since={now + 80_000}", known.test))


def test_since_together_with_a_cursor_is_a_plain_400(client: SyncClient, known: Partner) -> None:
    for cursor in (_cursor(client, known.test), "wrong"):
        check_plain(
            client.call("GET", f"/partner/results?cursor={cursor}&since=1", known.test), "since"
        )


def test_the_cursor_is_checked_after_key_account_and_version(
    client: SyncClient, known: Partner
) -> None:
    check_refusal(
        client.call("GET", "/partner/results?cursor=wrong", "pgs_test_wrong"), 401, "invalid_key"
    )
    check_refusal(
        client.call(
            "GET",
            "/partner/results?cursor=wrong",
            known.test,
            headers=[("X-Service-Api-Version", "9")],
        ),
        400,
        "unsupported_api_version",
    )
