"""A second version, defined here alone, renames fields; clients of version 1 see no change."""

from collections.abc import AsyncIterator
from email.utils import parsedate_to_datetime
from typing import Any

import pytest

from pgs.actors.messages.account.settings import SetPin
from pgs.clock import SystemClock
from pgs.domain.members import PLATFORM
from pgs.domain.versions import Notice, Rename, ServedVersions
from pgs.http.api.versioning import ending, from_version, in_version, names_in
from pgs.http.partner.me import Me
from pgs.http.partner.results import ResultRow
from pgs.http.partner.seats import SeatRecord, TakeSeat
from tests.journeys.client import check_plain, ok
from tests.journeys.partners import BRONZE, Partner, seat_body
from tests.journeys.places import Place
from tests.journeys.service import Service, in_process

NOW = SystemClock().now()
DAY_S = 86_400
TWO = ServedVersions(
    frozenset({1, 2}),
    2,
    renames={
        2: (
            Rename(Me, "name", "displayName"),
            Rename(SeatRecord, "tierId", "tier"),
            Rename(TakeSeat, "tierId", "ladderStep"),
            Rename(ResultRow, "result", "verdict"),
        )
    },
    notices={1: Notice(NOW - DAY_S, NOW + 89 * DAY_S)},
)
V1, V2 = [("X-Service-Api-Version", "1")], [("X-Service-Api-Version", "2")]


@pytest.fixture
async def service(place: Place) -> AsyncIterator[Service]:
    """A service that serves both versions."""
    async with in_process(place, versions=TWO) as running:
        yield running


async def _pin(service: Service, partner: Partner, version: int) -> None:
    await service.account(partner.partner_id, SetPin(PLATFORM, "test", version))


async def test_a_field_is_renamed_in_version_2_while_clients_of_version_1_see_no_change(
    service: Service,
) -> None:
    partner = await service.partner()
    call = service.public.call
    first = await call("GET", "/partner/me", partner.test, headers=V1)
    second = await call("GET", "/partner/me", partner.test, headers=V2)
    assert ok(first)["name"] == ok(second)["displayName"]
    assert "displayName" not in first.json
    assert ok(second).keys() == (ok(first).keys() - {"name"}) | {"displayName"}
    assert (first.version, second.version) == (1, 2)


async def test_a_pin_moves_forward_and_back(service: Service) -> None:
    partner = await service.partner()

    async def fields() -> set[str]:
        return set(ok(await service.public.call("GET", "/partner/me", partner.test)))

    seen: list[set[str]] = []
    for version in (1, 2, 1):
        await _pin(service, partner, version)
        seen.append(await fields() & {"name", "displayName"})
    assert seen == [{"name"}, {"displayName"}, {"name"}]


async def test_a_request_and_an_inner_record_have_the_names_of_their_version(
    service: Service,
) -> None:
    partner = await service.partner()
    call = service.public.call

    async def seat(player: str, headers: Any, **fields: object) -> Any:
        body = seat_body(player, player, **fields)
        return await call("POST", "/partner/matches", partner.test, body, headers=headers)

    renamed = {"ladderStep": BRONZE}
    body = {name: value for name, value in seat_body("ada", "ada").items() if name != "tierId"}
    new = await call("POST", "/partner/matches", partner.test, body | renamed, headers=V2)
    assert ok(new)["tier"] == BRONZE
    old = ok(await seat("bob", V1))
    assert (old["tierId"], old["status"]) == (BRONZE, "matched")
    check_plain(await seat("eve", V2, **renamed), "ladderStep")
    decision = {"outcome": "ended", "winnerPlayerId": "ada"}
    path = f"/partner/test/matches/{old['matchId']}/decide"
    ok(await call("POST", path, partner.test, decision, headers=V1))
    rows = ok(await call("GET", "/partner/results", partner.test, headers=V2))["results"]
    assert {row["verdict"] for row in rows} == {"won", "lost"}
    rows = ok(await call("GET", "/partner/results", partner.test, headers=V1))["results"]
    assert {row["result"] for row in rows} == {"won", "lost"}


async def test_a_version_whose_notice_runs_says_when_it_ends(service: Service) -> None:
    partner = await service.partner()
    call = service.public.call
    old = await call("GET", "/partner/me", partner.test, headers=V1)
    notice = TWO.notices[1]
    assert old.header("deprecation") == f"@{notice.starts_at}"
    sunset = parsedate_to_datetime(old.header("sunset") or "")
    assert int(sunset.timestamp()) == notice.ends_at
    assert '/docs/changelog>; rel="deprecation"' in (old.header("link") or "")
    new = await call("GET", "/partner/me", partner.test, headers=V2)
    assert (new.header("deprecation"), new.header("sunset")) == (None, None)


def test_a_field_that_is_renamed_twice_keeps_its_first_name_in_the_oldest_version() -> None:
    three = ServedVersions(
        frozenset({1, 2, 3}),
        3,
        renames={2: (Rename(Me, "name", "title"),), 3: (Rename(Me, "title", "label"),)},
    )
    shown = [names_in(version, three).get(Me, {}) for version in (1, 2, 3)]
    assert shown == [{}, {"name": "title"}, {"name": "label"}]
    body: dict[str, object] = {"label": "a"}
    assert from_version(body, Me, 3, three) is None
    assert body == {"name": "a"}
    assert in_version({"inner": [1]}, 3, three) == {"inner": [1]}


def test_a_notice_that_has_not_begun_says_nothing() -> None:
    later = ServedVersions(frozenset({1}), 1, notices={1: Notice(100, 200)})
    assert ending(1, later, 99, "http://x") == ()
    assert len(ending(1, later, 100, "http://x")) == 3
