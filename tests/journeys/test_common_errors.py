"""The refusals that all calls with a key share, and their headers."""

import pytest

from pgs.actors.messages.account.keys import RevokeKey
from pgs.actors.messages.account.lifecycle import SwitchAccount
from pgs.actors.messages.account.settings import ChangeLicence, SetRate
from pgs.domain.keys import ENTROPY_BYTES, make_key
from pgs.domain.members import PLATFORM
from tests.journeys.client import SyncClient, check_plain, check_refusal, ok
from tests.journeys.partners import BOTH, LIVE_ONLY, TEST_ONLY, UNKNOWN, Partner, seat_body
from tests.journeys.service import SharedService
from tests.journeys.ways import both_ways

shared = both_ways()

FORGED = make_key("test", "nobody", bytes(ENTROPY_BYTES))


def _broken(key: str) -> str:
    return key[:-1] + ("0" if key[-1] != "0" else "1")


@pytest.mark.parametrize(
    "authorization",
    [
        pytest.param(None, id="absent"),
        pytest.param("", id="empty"),
        pytest.param("Bearer", id="scheme alone"),
        pytest.param("{key}", id="key alone"),
        pytest.param("Basic {key}", id="another scheme"),
        pytest.param("Bearer {key} x", id="something after it"),
        pytest.param("Bearer {key},Bearer {key}", id="a list"),
        pytest.param("Bearer {cut}", id="cut"),
        pytest.param("Bearer {key}0", id="too long"),
        pytest.param("Bearer {broken}", id="wrong checksum"),
        pytest.param("Bearer {renamed}", id="of the other environment"),
        pytest.param("Bearer {upper}", id="in capitals"),
        pytest.param("Bearer {forged}", id="unknown"),
        pytest.param("Bearer \uff4bey", id="not ASCII"),
    ],
)
def test_anything_but_a_known_key_is_an_invalid_key(
    client: SyncClient, known: Partner, authorization: str | None
) -> None:
    key = known.test
    headers = []
    if authorization is not None:
        text = authorization.format(
            key=key,
            cut=key[:-1],
            broken=_broken(key),
            renamed=key.replace("test", "live"),
            upper=key.upper(),
            forged=FORGED,
        )
        headers.append(("Authorization", text.encode()))
    reply = client.call("GET", "/partner/me", headers=headers)
    check_refusal(reply, 401, "invalid_key")
    assert reply.version == 1
    assert reply.header("www-authenticate") == "Bearer"


def test_a_key_in_two_authorization_headers_is_invalid(client: SyncClient, known: Partner) -> None:
    header = ("Authorization", f"Bearer {known.test}")
    ok(client.call("GET", "/partner/me", headers=[header]))
    check_refusal(client.call("GET", "/partner/me", headers=[header, header]), 401, "invalid_key")


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "bEaReR"])
def test_the_scheme_is_matched_in_any_case(client: SyncClient, known: Partner, scheme: str) -> None:
    record = ok(
        client.call("GET", "/partner/me", headers=[("Authorization", f"{scheme} {known.test}")])
    )
    assert (record["partnerId"], record["environment"]) == (known.partner_id, "test")


def test_an_accepted_call_states_what_its_bucket_still_holds(shared: SharedService) -> None:
    partner = shared.partner()
    shared.account(partner, SetRate(PLATFORM, 300, 80))
    reply = shared.client.call("GET", "/partner/me", partner.test)
    assert reply.header("ratelimit-policy") == '"partner";q=300;w=4'
    assert reply.header("ratelimit") == '"partner";r=299;t=1'


def test_both_keys_of_a_partner_draw_from_one_bucket(shared: SharedService) -> None:
    partner = shared.partner()
    shared.account(partner, SetRate(PLATFORM, 50, 1))
    left = [
        shared.client.call("GET", "/partner/me", key).left
        for key in (partner.test, partner.live, partner.test)
    ]
    assert left[0] > left[1] > left[2]


@pytest.mark.parametrize("environment", ["test", "live"])
def test_an_empty_bucket_is_rate_limited_with_all_its_headers(
    shared: SharedService, environment: str
) -> None:
    partner = shared.partner()
    shared.account(partner, SetRate(PLATFORM, 5, 2))
    shared.drain(partner)
    reply = shared.client.call(
        "GET", "/partner/me", partner.test if environment == "test" else partner.live
    )
    check_refusal(reply, 429, "rate_limited")
    assert reply.header("ratelimit-policy") == '"partner";q=5;w=3'
    assert reply.header("ratelimit") == '"partner";r=0;t=3'
    assert reply.header("retry-after") == "1"
    assert reply.version == 1


def test_a_revoked_key_is_invalid_and_still_draws_from_its_partners_bucket(
    shared: SharedService,
) -> None:
    partner = shared.partner()
    shared.account(partner, RevokeKey(PLATFORM, partner.key_ids["test"]))
    shared.account(partner, SetRate(PLATFORM, 50, 1))
    before = shared.client.call("GET", "/partner/me", partner.live).left
    for _ in range(10):
        reply = shared.client.call("GET", "/partner/me", partner.test)
        check_refusal(reply, 401, "invalid_key")
        assert reply.header("www-authenticate") == "Bearer"
    assert shared.client.call("GET", "/partner/me", partner.live).left <= before - 5


def test_forged_keys_cost_a_partner_nothing(shared: SharedService) -> None:
    partner = shared.partner()
    shared.account(partner, SetRate(PLATFORM, 50, 50))
    for text in (
        FORGED,
        make_key("test", partner.partner_id, bytes(range(ENTROPY_BYTES))),
        _broken(partner.test),
    ):
        check_refusal(shared.client.call("GET", "/partner/me", text), 401, "invalid_key")
    assert shared.client.call("GET", "/partner/me", partner.test).left == 49


def test_a_switched_off_account_is_partner_inactive_until_it_is_switched_on(
    shared: SharedService,
) -> None:
    partner = shared.partner()
    shared.account(partner, SwitchAccount(PLATFORM, False))
    reply = shared.client.call("GET", "/partner/me", partner.test)
    check_refusal(reply, 403, "partner_inactive")
    assert reply.header("ratelimit") is not None
    shared.account(partner, SwitchAccount(PLATFORM, True))
    ok(shared.client.call("GET", "/partner/me", partner.test))


def _launches(
    client: SyncClient, key: str, game_id: str, player_id: str = "alice"
) -> list[tuple[int, str | None]]:
    replies = (
        client.call("POST", "/partner/sessions", key, {"gameId": game_id, "playerId": player_id}),
        client.call(
            "POST",
            "/partner/matches",
            key,
            seat_body(player_id, f"{game_id}:{player_id}"[:128], gameId=game_id),
        ),
        client.call("GET", f"/partner/tiers?gameId={game_id}", key),
    )
    return [(reply.status, reply.reason) for reply in replies]


@pytest.mark.parametrize(
    ("environment", "game_id", "expected"),
    [
        ("test", BOTH, (200, None)),
        ("live", BOTH, (200, None)),
        ("test", TEST_ONLY, (200, None)),
        ("live", TEST_ONLY, (403, "game_not_licensed_in_this_environment")),
        ("test", LIVE_ONLY, (403, "game_not_licensed_in_this_environment")),
        ("live", LIVE_ONLY, (200, None)),
        ("test", UNKNOWN, (403, "game_not_licensed")),
        ("live", UNKNOWN, (403, "game_not_licensed")),
        ("test", BOTH.upper(), (403, "game_not_licensed")),
    ],
)
def test_minting_seating_and_reading_tiers_require_the_same_licence(
    client: SyncClient,
    partner: Partner,
    environment: str,
    game_id: str,
    expected: tuple[int, str | None],
) -> None:
    key = partner.test if environment == "test" else partner.live
    assert _launches(client, key, game_id) == [expected] * 3


def test_a_platform_game_that_a_partner_never_turned_on_is_not_licensed(
    shared: SharedService,
) -> None:
    partner = shared.partner()
    shared.account(partner, ChangeLicence(PLATFORM, TEST_ONLY, "test_off"))
    for key in (partner.test, partner.live):
        assert _launches(shared.client, key, TEST_ONLY) == [(403, "game_not_licensed")] * 3


@pytest.mark.parametrize("player_id", ["a", "A-z_09", "-", "x" * 64])
def test_a_player_id_of_64_plain_characters_may_play(
    client: SyncClient, partner: Partner, player_id: str
) -> None:
    assert _launches(client, partner.test, BOTH, player_id)[:2] == [(200, None)] * 2


@pytest.mark.parametrize(
    "player_id",
    ["", "x" * 65, "a b", "a.b", "é", "a\n", "\uff11", "a/b", None, 7, True, ["a"], {"a": 1}],
)
@pytest.mark.parametrize("path", ["/partner/sessions", "/partner/matches"])
def test_any_other_player_id_is_malformed(
    client: SyncClient, known: Partner, path: str, player_id: object
) -> None:
    body = seat_body("alice", "malformed", playerId=player_id)
    check_refusal(client.call("POST", path, known.test, body), 400, "malformed_player_id")


@pytest.mark.parametrize("path", ["/partner/sessions", "/partner/matches"])
def test_a_missing_player_id_is_malformed(client: SyncClient, known: Partner, path: str) -> None:
    body = seat_body("alice", "missing")
    del body["playerId"]
    check_refusal(client.call("POST", path, known.test, body), 400, "malformed_player_id")


def test_tiers_name_the_parameter_that_is_missing(client: SyncClient, known: Partner) -> None:
    for query in ("", "?gameId=", "?gameid=tic-tac-toe", "?gameId"):
        check_refusal(
            client.call("GET", f"/partner/tiers{query}", known.test),
            400,
            "missing_parameter",
            parameter="gameId",
        )
    check_plain(
        client.call("GET", f"/partner/tiers?gameId={BOTH}&gameId={BOTH}", known.test), "gameId"
    )


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/partner/seats/sea_unknown", "seat_not_found"),
        ("/partner/seats/" + "x" * 2000, "seat_not_found"),
        ("/partner/seats/a%2Fb", "seat_not_found"),
        ("/partner/seats/%E2%82%AC", "seat_not_found"),
        ("/partner/matches/mat_unknown", "match_not_found"),
        ("/partner/matches/'%20or%201=1", "match_not_found"),
    ],
)
def test_a_missing_record_is_404_with_the_reason_of_its_kind(
    client: SyncClient, known: Partner, path: str, reason: str
) -> None:
    reply = client.call("GET", path, known.test)
    check_refusal(reply, 404, reason)
    assert reply.header("ratelimit") is not None
