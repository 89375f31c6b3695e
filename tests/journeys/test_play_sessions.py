"""Session tokens on the Game API: which ones are accepted, and how others are refused."""

import time

import pytest
import trio

from pgs.actors.messages.account.lifecycle import EmergencyStop, SwitchAccount
from pgs.actors.messages.account.settings import SetRate
from pgs.actors.shared import admission
from pgs.domain.members import PLATFORM
from pgs.domain.sessions import SessionClaims, sign_session
from pgs.domain.token_buckets import PLAYER_POLICY
from tests.journeys.client import check_refusal, ok
from tests.journeys.partners import Partner
from tests.journeys.places import Place
from tests.journeys.play import Refused, mint, mint_sync, socket_of
from tests.journeys.service import Service, SharedService, in_process
from tests.journeys.ways import both_ways

shared = both_ways()


def token(
    service: Service, partner: Partner, *, age_s: int = 0, generation: int = 0, ttl_s: int = 60
) -> str:
    """Return a token that is signed with the service's key ring."""
    now = service.core.parts.clock.now() - age_s
    claims = SessionClaims(
        partner.partner_id, "test", "tic-tac-toe", "ann", None, now, now + ttl_s, generation
    )
    return sign_session(claims, service.core.parts.ring)


async def check_refused(service: Service, bad: str, status: int, reason: str | None) -> None:
    """Check that every call and the handshake get this refusal."""
    for method, path in (("GET", "/game/session"), ("POST", "/game/matches/mat_any/join")):
        check_refusal(await service.public.call(method, path, bad), status, reason)
    with pytest.raises(Refused) as refused:
        async with socket_of(service.public.next_url, bad):
            pass
    assert (refused.value.status, refused.value.body.get("reason")) == (status, reason)
    assert refused.value.body["error"]
    assert "x-request-id" in refused.value.headers


@pytest.mark.parametrize("bad", ["x", "pgs1.000.k.p.m", "pgs1" + "." * 4])
async def test_a_malformed_token_is_401_without_a_reason(bad: str, shared: SharedService) -> None:
    client = shared.client
    check_refusal(client.call("GET", "/game/session", bad), 401, None)
    check_refusal(client.call("GET", "/game/session"), 401, None)
    with pytest.raises(Refused) as refused:
        async with socket_of(client.next_url, bad):
            pass
    assert (refused.value.status, list(refused.value.body)) == (401, ["error"])


async def test_an_api_key_is_no_session_token(shared: SharedService, known: Partner) -> None:
    check_refusal(shared.client.call("GET", "/game/session", known.test), 401, None)


async def test_expired_tokens_and_tokens_minted_before_an_emergency_stop_are_401(
    place: Place,
) -> None:
    async with in_process(place) as service:
        partner = await service.partner()
        assert (
            ok(await service.public.call("GET", "/game/session", token(service, partner)))[
                "playerId"
            ]
            == "ann"
        )
        await check_refused(service, token(service, partner, age_s=60), 401, None)
        await (
            service.core.directory.partner(partner.partner_id)
            .account()
            .ask(EmergencyStop("ops", "test"))
        )
        await check_refused(service, token(service, partner), 401, None)
        assert (
            ok(
                await service.public.call(
                    "GET", "/game/session", token(service, partner, generation=1)
                )
            )["playerId"]
            == "ann"
        )
        await service.account(partner.partner_id, SwitchAccount(PLATFORM, active=False))
        await check_refused(service, token(service, partner, generation=1), 403, "partner_inactive")
        await check_refused(service, token(service, partner, generation=0), 401, None)


async def test_a_closed_registry_is_503(place: Place) -> None:
    async with in_process(place) as service:
        partner = await service.partner()
        good = await mint(service.public, partner.test, "ann")
        async with socket_of(service.public.next_url, good) as bot:
            service.close_registries()
            await check_refused(service, good, 503, "registry_unavailable")
            assert await bot.closed() == 4503


async def test_a_token_of_another_environment_than_the_deployments_is_401(place: Place) -> None:
    async with in_process(place, restrict_environment="live") as service:
        partner = await service.partner()
        await check_refused(service, token(service, partner), 401, None)
        assert ok(
            await service.public.call(
                "GET", "/game/session", await mint(service.public, partner.live, "ann")
            )
        )


async def test_the_process_bucket_bounds_players_too(place: Place) -> None:
    async with in_process(place, process_rate=3) as service:
        partner = await service.partner()
        good = token(service, partner)
        forged = [await service.public.call("GET", "/game/session", good[:-1]) for _ in range(6)]
        assert [reply.status for reply in forged] == [401] * 6, "forged tokens draw from no bucket"
        replies = [await service.public.call("GET", "/game/session", good) for _ in range(6)]
        assert {reply.status for reply in replies} == {200, 429}
        assert all(reply.header("ratelimit") is None for reply in replies)


class ClockPutRight:
    """The time of a process: still two days ahead after the machine's clock was put right."""

    def real_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def real(self) -> int:
        return self.real_ms() // 1000

    def now_ms(self) -> int:
        return self.real_ms() + 2 * 86_400_000

    def now(self) -> int:
        return self.now_ms() // 1000


async def test_session_tokens_carry_the_real_time_and_those_from_the_future_are_401(
    place: Place,
) -> None:
    async with in_process(place, clock=ClockPutRight()) as service:
        partner = await service.partner()
        minted = ok(
            await service.public.call(
                "POST",
                "/partner/sessions",
                partner.test,
                {"gameId": "tic-tac-toe", "playerId": "ann"},
            )
        )
        assert abs(minted["issuedAt"] - time.time()) < 3600
        good = await service.public.call("GET", "/game/session", minted["sessionToken"])
        assert ok(good)["playerId"] == "ann"
        await check_refused(service, token(service, partner, ttl_s=3600), 401, None)
        _, ready = await service.internal.get("/internal/readyz")
        assert b"went back" in ready


async def test_each_player_has_a_bucket_of_calls_and_handshakes(place: Place) -> None:
    async with in_process(place) as service:
        partner = await service.partner()
        good = token(service, partner)
        admitted = 0
        while (refused := await service.public.call("GET", "/game/session", good)).status == 200:
            admitted += 1
        assert admitted >= PLAYER_POLICY.burst
        check_refusal(refused, 429, "rate_limited")
        assert refused.header("retry-after") == "1"
        other = await mint(service.public, partner.test, "ben")
        assert ok(await service.public.call("GET", "/game/session", other))["playerId"] == "ben"


async def test_the_players_of_a_partner_share_ten_times_its_bucket(place: Place) -> None:
    async with in_process(place) as service:
        partner = await service.partner()
        tokens = [await mint(service.public, partner.test, name) for name in ("ann", "ben")]
        await service.account(partner.partner_id, SetRate(PLATFORM, 1, 1))
        game = service.core.directory.partner(partner.partner_id).game_admission
        known = service.core.parts.registry.account(partner.partner_id)
        assert known is not None
        while game.admit(known, trio.current_time() + 3600).refused_by is None:
            pass  # a later time, so that nothing is regained
        for one in tokens:
            refused = await service.public.call("GET", "/game/session", one)
            check_refusal(refused, 429, "rate_limited")
        _, metrics = await service.internal.get("/internal/metrics")
        assert b'pgs_events_total{event="rate_limited_by_partner"} 2.0' in metrics


async def test_a_player_who_ignores_refusals_is_slowed_down(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = list[float]()
    monkeypatch.setattr(
        admission.PlayerAdmission, "refuse", lambda *_: admission.RateLimited(2, 0.0125)
    )
    sleep = trio.sleep

    async def noted(seconds: float) -> None:
        held.append(seconds)
        await sleep(seconds)

    async with in_process(place) as service:
        good = token(service, await service.partner())
        monkeypatch.setattr("pgs.http.game.auth.trio.sleep", noted)
        refused = await service.public.call("GET", "/game/session", good)
        check_refusal(refused, 429, "rate_limited")
        assert refused.header("retry-after") == "2"
        assert held.count(0.0125) == 1  # nothing else sleeps that long


async def test_a_socket_closes_when_its_token_expires(place: Place) -> None:
    async with in_process(place) as service:
        partner = await service.partner()
        async with socket_of(service.public.next_url, token(service, partner, ttl_s=2)) as bot:
            assert await bot.closed() == 4401


async def test_a_socket_may_send_its_token_in_the_header(
    shared: SharedService, known: Partner
) -> None:
    good = mint_sync(shared.client, known.test, "ann")
    header = [(b"authorization", b"Bearer " + good.encode())]
    async with socket_of(shared.client.next_url, good, subprotocols=[], headers=header) as bot:
        assert await bot.ask("ping", id=1) == {"type": "pong", "id": 1}


async def test_a_handshake_with_a_token_but_without_the_protocol_is_refused(
    shared: SharedService, known: Partner
) -> None:
    good = mint_sync(shared.client, known.test, "ann")
    with pytest.raises(Refused) as refused:
        async with socket_of(shared.client.next_url, good, subprotocols=[f"pgs.token.{good}"]):
            pass
    assert refused.value.status == 400


async def test_a_plain_call_of_the_sockets_path_is_told_to_upgrade(
    shared: SharedService, known: Partner
) -> None:
    check_refusal(shared.client.call("GET", "/game/socket"), 426, None)
    check_refusal(shared.client.call("POST", "/game/socket"), 405, None)


def test_players_do_not_draw_from_their_partners_bucket(
    shared: SharedService, partner: Partner
) -> None:
    good = mint_sync(shared.client, partner.test, "ann")
    shared.account(partner, SetRate(PLATFORM, 1, 1))
    shared.drain(partner)
    check_refusal(shared.client.call("GET", "/partner/me", partner.test), 429, "rate_limited")
    assert ok(shared.client.call("GET", "/game/session", good))["playerId"] == "ann"
