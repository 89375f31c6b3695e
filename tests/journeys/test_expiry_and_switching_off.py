"""What happens to seats, matches and keys when time passes or an account is switched off."""

import re

import msgspec
import pytest
import trio

from pgs.actors.kernel.mail import Envelope
from pgs.actors.messages.account.lifecycle import SwitchAccount
from pgs.actors.ports import ChargeAnswer
from pgs.actors.seating import settlement_actor
from pgs.actors.seating.switching_off import close_play, switch_on
from pgs.domain.environments import ENVIRONMENTS
from pgs.domain.matches import ABSENCE_S
from pgs.domain.members import PLATFORM
from pgs.domain.payouts import Payout
from pgs.domain.seats import WAIT_S, Seat
from tests.journeys.client import Reply, check_refusal, ok
from tests.journeys.partners import BOTH, Partner, seat_body
from tests.journeys.places import Place
from tests.journeys.service import Service, in_process, until
from tests.patience import PATIENCE_S

MONEY = ("payoutUsdCents", "refundUsdCents", "rakeUsdCents")


async def _seat(service: Service, key: str, player_id: str, idempotency_key: str) -> Reply:
    return await service.public.call(
        "POST", "/partner/matches", key, seat_body(player_id, idempotency_key)
    )


async def _close_play(service: Service, partner: Partner) -> int:
    """Close a partner's play in both environments; return how many seats and matches ended."""
    actors = service.core.directory.partner(partner.partner_id)
    return sum([await close_play(actors, each, "account_inactive") for each in ENVIRONMENTS])


async def _rows_once_paid(service: Service, key: str, count: int) -> dict[str, dict[str, object]]:
    """Return the feed's rows by player once `count` of them have their money."""
    rows: dict[str, dict[str, object]] = {}
    cursor = ""
    with trio.fail_after(PATIENCE_S):
        while sum("refundUsdCents" in row for row in rows.values()) < count:
            page = ok(
                await service.public.call("GET", f"/partner/results?waitSeconds=20{cursor}", key)
            )
            cursor = f"&cursor={page['nextCursor']}"
            rows |= {row["playerId"]: row for row in page["results"]}
    return rows


async def test_a_seat_without_an_opponent_ends_in_a_match_of_its_own_and_is_refunded(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(WAIT_S, "live", 1)
    async with in_process(place) as service:
        key = (await service.partner()).live
        seat = ok(await _seat(service, key, "alice", "a"))
        assert seat["expiresAt"] == seat["seatedAt"] + 1
        row = (await _rows_once_paid(service, key, 1))["alice"]
        assert (row["outcome"], row["endReason"]) == ("no_contest", "no_opponent")
        assert tuple(row[name] for name in MONEY) == (0, 100, 0)
        assert not row.keys() & {"opponentPlayerId", "result", "startedAt"}
        now = ok(await service.public.call("GET", f"/partner/seats/{seat['seatId']}", key))
        assert (now["status"], now["stakeStatus"], now["matchId"]) == (
            "no_contest",
            "refunded",
            row["matchId"],
        )
        record = ok(await service.public.call("GET", f"/partner/matches/{row['matchId']}", key))
        assert (record["status"], record["endReason"], len(record["seats"])) == (
            "no_contest",
            "no_opponent",
            1,
        )
        assert ok(await _seat(service, key, "bob", "b"))["status"] == "waiting"
        assert (await service.ledger()).sound


async def test_a_match_that_neither_player_joins_is_no_contest_and_refunded(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ABSENCE_S, "test", 1)
    async with in_process(place) as service:
        key = (await service.partner()).test
        for name in ("alice", "bob"):
            ok(await _seat(service, key, name, name))
        rows = await _rows_once_paid(service, key, 2)
        assert {row["endReason"] for row in rows.values()} == {"both_absent"}
        assert {tuple(row[name] for name in MONEY) for row in rows.values()} == {(0, 100, 0)}


async def _switch_off(service: Service, partner: Partner) -> None:
    await service.account(partner.partner_id, SwitchAccount(PLATFORM, False))


@pytest.mark.parametrize("dies_between", [False, True])
async def test_a_deactivation_ends_what_is_open_even_when_the_process_dies_right_after_it(
    place: Place, dies_between: bool
) -> None:
    async with in_process(place) as service:
        partner = await service.partner()
        for name in ("alice", "bob", "carol"):
            ok(await _seat(service, partner.test, name, name))
        ok(await _seat(service, partner.live, "dave", "d"))
        await _switch_off(service, partner)
        if not dies_between:
            assert await _close_play(service, partner) == 3
    async with in_process(place) as service:
        check_refusal(
            await service.public.call("GET", "/partner/results", partner.test),
            403,
            "partner_inactive",
        )
        actors = service.core.directory.partner(partner.partner_id)
        await switch_on(actors, SwitchAccount(PLATFORM, True))
        rows = await _rows_once_paid(service, partner.test, 3) | await _rows_once_paid(
            service, partner.live, 1
        )
        assert rows.keys() == {"alice", "bob", "carol", "dave"}
        assert {row["endReason"] for row in rows.values()} == {"account_inactive"}
        assert {row["refundUsdCents"] for row in rows.values()} == {100}
        assert (await service.ledger()).sound
        assert ok(await _seat(service, partner.test, "erin", "e"))["status"] == "waiting"


async def test_a_long_poll_ends_when_its_keys_revocation_falls_due(place: Place) -> None:
    async with in_process(place) as service:
        partner = await service.partner()
        parts = service.core.parts
        known = parts.registry.account(partner.partner_id)
        assert known is not None
        due = parts.clock.now() + 2
        keys = tuple(
            msgspec.structs.replace(key, revokes_at=due if key.environment == "test" else None)
            for key in known.keys
        )
        parts.registry.publish(msgspec.structs.replace(known, keys=keys))
        ok(await service.public.call("GET", "/partner/me", partner.test))
        with trio.fail_after(PATIENCE_S):
            check_refusal(
                await service.public.call("GET", "/partner/results?waitSeconds=25", partner.test),
                401,
                "invalid_key",
            )
        assert parts.clock.now() >= due
        check_refusal(
            await service.public.call("GET", "/partner/me", partner.test), 401, "invalid_key"
        )
        ok(await service.public.call("GET", "/partner/me", partner.live))


@pytest.mark.parametrize("environment", ["test", "live"])
async def test_a_session_has_an_opaque_token_and_the_urls_of_this_service(
    place: Place, environment: str
) -> None:
    async with in_process(place, base_url="https://games.example") as service:
        partner = await service.partner()
        key = partner.test if environment == "test" else partner.live
        body = {"gameId": BOTH, "playerId": "alice", "displayName": "Alice"}
        one = ok(await service.public.call("POST", "/partner/sessions", key, body))
        two = ok(
            await service.public.call("POST", "/partner/sessions", key, body | {"playerId": "bob"})
        )
        for session in (one, two):
            assert re.fullmatch(r"pgs1(\.[A-Za-z0-9_~-]+){4}", session["sessionToken"], re.ASCII), (
                session["sessionToken"]
            )
            assert (session["tokenType"], session["environment"], session["gameId"]) == (
                "Bearer",
                environment,
                BOTH,
            )
            assert (
                session["embedUrl"]
                == f"https://games.example/embed/{'test/' if environment == 'test' else ''}acme"
            )
            assert session["gameSocketUrl"] == "wss://games.example/game/socket"
        assert (one["playerId"], one["playerUid"]) == ("alice", f"ptr:{environment}:acme:alice")
        assert one["sessionToken"] != two["sessionToken"]


class HeldSettlement:
    """A settlement that confirms no stake before `released` is set."""

    instant = False

    def __init__(self) -> None:
        self.released = trio.Event()
        self.asked = 0

    async def charge(self, seat: Seat) -> ChargeAnswer:
        """Wait until `released` is set, then return `confirmed`."""
        self.asked += 1
        await self.released.wait()
        return "confirmed"

    async def pay(self, match_id: str, payout: Payout) -> ChargeAnswer:
        """Return `confirmed`."""
        return "confirmed"


async def test_simultaneous_calls_with_one_key_wait_for_one_answer_of_settlement(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = HeldSettlement()
    kept: set[Envelope] = set()  # the asks that an actor will answer later
    keep_in = Envelope.keep_in

    def keep(envelope: Envelope, deferred: set[Envelope]) -> None:
        kept.add(envelope)
        keep_in(envelope, deferred)

    monkeypatch.setattr(Envelope, "keep_in", keep)
    async with in_process(place, settlement=held) as service:
        key = (await service.partner()).test
        replies: list[Reply] = []

        async def seat() -> None:
            replies.append(await _seat(service, key, "alice", "one"))

        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(seat)
            await until(lambda: held.asked == 1)
            await until(lambda: len(kept) == 3)
            held.released.set()
        assert held.asked == 1
        assert len({ok(reply)["seatId"] for reply in replies}) == 1
        assert {ok(reply)["status"] for reply in replies} == {"waiting"}
        assert sorted(reply.header("idempotent-replayed") or "" for reply in replies) == [
            "",
            "true",
            "true",
        ]


@pytest.mark.slow  # waits ten seconds
async def test_a_settlement_that_does_not_answer_in_time_leaves_the_seat_pending(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settlement_actor, "ANSWER_S", 0.2)
    held = HeldSettlement()
    async with in_process(place, settlement=held) as service:
        key = (await service.partner()).test
        for _ in range(2):
            check_refusal(await _seat(service, key, "alice", "one"), 503, "settlement_unavailable")
        held.released.set()
        reply = await _seat(service, key, "alice", "one")
        assert (ok(reply)["status"], reply.header("idempotent-replayed")) == ("waiting", "true")
        assert (await service.ledger()).sound


@pytest.mark.slow  # settlement is asked again about a pending stake after 5 s
async def test_a_pending_stake_is_confirmed_by_recovery_without_a_retry(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settlement_actor, "ANSWER_S", 0.2)
    held = HeldSettlement()
    async with in_process(place, settlement=held) as service:
        key = (await service.partner()).test
        check_refusal(await _seat(service, key, "alice", "one"), 503, "settlement_unavailable")
        held.released.set()
        with trio.fail_after(PATIENCE_S):
            assert (await _seat(service, key, "bob", "two")).status in (200, 503)
            rows: list[dict[str, object]] = []
            while not rows:
                rows = ok(await service.public.call("GET", "/partner/results?waitSeconds=5", key))[
                    "results"
                ]
        assert {row["playerId"] for row in rows} == {"alice", "bob"}
