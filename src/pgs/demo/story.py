"""The demo's story: one match, from the tiers to the money. Every answer is checked."""

from typing import Any

import msgspec
import trio

from pgs.demo.backend import Backend, Exchange
from pgs.demo.delayed_settlement import DelayedSettlement
from pgs.demo.inbox import Inbox
from pgs.demo.partner import FLOOR_USD_CENTS, GAME, PARTNER_ID, PRIZE_USD_CENTS, TEST_TIER
from pgs.demo.printing import Teller

FIRST, SECOND = "player-1", "player-2"

POLL_S = 20
"""Seconds for which the demo asks the feed to hold its call: less than the 25 that the service
allows."""

NUDGE_S = 10.0
"""Seconds that the demo waits for a nudge. A nudge on one machine takes milliseconds, and a failed
one is tried again after 1 and 5 s."""

_MONEY = ("payoutUsdCents", "refundUsdCents", "rakeUsdCents")


class Unexpected(Exception):
    """An answer or a nudge was not as expected; the message says what the demo expected."""


class _Nudge(msgspec.Struct, frozen=True, rename="camel"):
    type: str
    partner_id: str
    at: int


def expect(holds: bool, what: str) -> None:
    """Raise `Unexpected` unless the expectation `holds`. `what` is what the demo expected."""
    if not holds:
        raise Unexpected(f"The demo expected {what}.")


async def tell(
    backend: Backend, teller: Teller, settlement: DelayedSettlement, inbox: Inbox, since: int
) -> None:
    """Carry out the story's calls and print them. Raises `Unexpected`, and `CALL_FAILED`.

    The feed is read from `since` on, in epoch seconds.
    """
    await _ask_for_tiers(backend, teller)
    await _mint(backend, teller)
    first = await _take_first_seat(backend, teller)
    match_id = await _take_second_seat(backend, teller, first["seatId"])
    await _be_nudged(inbox, teller, "the match's start")
    teller.say(
        "A nudge does not say what is new. It says that the feed has news, so read the feed."
    )
    await _read_pairing(backend, teller, match_id)
    cursor = await _read_feed_started(backend, teller, match_id, since)
    await _decide(backend, teller, match_id)
    await _be_nudged(inbox, teller, "the match's end")
    cursor = await _read_feed_decided(backend, teller, cursor)
    settlement.may_pay.set()
    await _wait_for_money(backend, teller, cursor)
    await _be_nudged(inbox, teller, "the match's money")
    await _look_at_the_endpoint(backend, teller, inbox)
    await _retry(backend, teller, first["seatId"])
    await _be_refused(backend, teller)


async def _ask_for_tiers(backend: Backend, teller: Teller) -> None:
    teller.step("The tiers", "The backend asks what a seat costs. All amounts are whole US cents.")
    asked = await backend.tiers(GAME)
    teller.exchange(asked)
    _answered(asked)
    entries = {tier["tierId"]: tier["entryUsdCents"] for tier in asked.received["tiers"]}
    expect(
        entries.get(TEST_TIER) == FLOOR_USD_CENTS, f"{TEST_TIER} to cost {FLOOR_USD_CENTS} cents"
    )


async def _mint(backend: Backend, teller: Teller) -> None:
    teller.step(
        "Two sessions",
        "Each player's frame needs a session token. Minting one takes no seat and writes nothing.",
    )
    for player in (FIRST, SECOND):
        minted = await backend.mint(GAME, player)
        teller.exchange(minted) if player == FIRST else teller.call(minted)
        _answered(minted)
        expect(minted.received["playerUid"].endswith(f":{player}"), f"a session of {player}")


async def _take_first_seat(backend: Backend, teller: Teller) -> dict[str, Any]:
    teller.step(
        "The first seat",
        "The stake is charged and the player waits for an opponent. The idempotency key is the "
        "backend's own name for this purchase.",
    )
    taken = await _seat(backend, FIRST)
    teller.exchange(taken)
    seat = _answered(taken)
    expect(
        (seat["status"], seat["stakeStatus"], seat["matchId"]) == ("waiting", "confirmed", None),
        "a waiting seat, its stake confirmed",
    )
    return seat


async def _take_second_seat(backend: Backend, teller: Teller, first_seat_id: str) -> str:
    teller.step(
        "The second seat",
        "With a test key, the opponent is the oldest waiting seat of the same game and tier, so "
        "this seat is matched at once. That is news, so the backend's webhook is nudged.",
    )
    taken = await _seat(backend, SECOND)
    teller.exchange(taken)
    seat = _answered(taken)
    expect(seat["status"] == "matched" and bool(seat["matchId"]), "a matched seat")
    expect(seat["seatId"] != first_seat_id, "a seat of its own")
    return str(seat["matchId"])


async def _read_pairing(backend: Backend, teller: Teller, match_id: str) -> None:
    teller.step("Why these two?", "A match says how its players were paired.")
    read = await backend.match(match_id)
    teller.exchange(read)
    match = _answered(read)
    expect(
        [seat["playerId"] for seat in match["seats"]] == [FIRST, SECOND],
        "both players in the match, the one who moves first at the front",
    )
    expect(match["pairing"]["rule"] == "test.v1", "the pairing rule of the test environment")


async def _read_feed_started(backend: Backend, teller: Teller, match_id: str, since: int) -> str:
    teller.step(
        "The results feed",
        "The feed has one row for each player of a match, from its start on. The row changes "
        "whenever something happens to the match. The rows of earlier matches are there too; the "
        "parameter since leaves them out.",
    )
    read = await backend.results(since=since)
    teller.feed(read)
    rows = _rows(read, "started")
    expect(all(row["matchId"] == match_id for row in rows), "both rows to belong to the match")
    teller.say(
        "The backend keeps the answer's nextCursor, and reads on from there with its next call."
    )
    return str(read.received["nextCursor"])


async def _decide(backend: Backend, teller: Teller, match_id: str) -> None:
    teller.step(
        "A decision",
        f"Nobody has to play a test match. With the test key, the backend says that {FIRST} has "
        "won.",
    )
    decided = await backend.decide(match_id, FIRST)
    teller.exchange(decided)
    match = _answered(decided)
    expect(
        (match["status"], match["endReason"]) == ("ended", "decided_by_test_key"), "an ended match"
    )


async def _read_feed_decided(backend: Backend, teller: Teller, cursor: str) -> str:
    teller.step(
        "The feed after the decision",
        "Both rows now have a result and stand at the feed's end. Their money is not recorded yet: "
        "its fields are absent, not 0.",
    )
    read = await backend.results(cursor)
    teller.feed(read)
    rows = _rows(read, "ended")
    expect(
        {row["playerId"]: row["result"] for row in rows} == {FIRST: "won", SECOND: "lost"},
        "a winner and a loser",
    )
    expect(all(field not in row for row in rows for field in _MONEY), "no money fields yet")
    return str(read.received["nextCursor"])


async def _wait_for_money(backend: Backend, teller: Teller, cursor: str) -> None:
    teller.step(
        "The money",
        f"The backend asks again, with a call that may be held for up to {POLL_S} s. It is "
        "answered as soon as the money is recorded.",
    )
    began = trio.current_time()
    read = await backend.results(cursor, POLL_S)
    teller.feed(read)
    money = {
        row["playerId"]: tuple(row.get(field) for field in _MONEY) for row in _rows(read, "ended")
    }
    rake = 2 * FLOOR_USD_CENTS - PRIZE_USD_CENTS
    expect(
        money == {FIRST: (PRIZE_USD_CENTS, 0, 0), SECOND: (0, 0, rake)},
        "the prize to the winner, and the rake from the loser's stake",
    )
    held = f"Held for {trio.current_time() - began:.1f} s."
    teller.say(
        f"{held} Two stakes of {FLOOR_USD_CENTS} came in, {PRIZE_USD_CENTS} went to the winner, "
        f"{rake} is rake."
    )


async def _look_at_the_endpoint(backend: Backend, teller: Teller, inbox: Inbox) -> None:
    teller.step(
        "The endpoint",
        "GET /partner/me shows the state of the webhook. Ten failed nudges in a row would switch "
        "it off. The secret is never shown.",
    )
    read = await backend.me()
    teller.exchange(read)
    webhook = _answered(read).get("webhook", {})
    state = (webhook.get("url"), webhook.get("enabled"), webhook.get("consecutiveFailures"))
    expect(state == (inbox.url, True, 0), "an endpoint that is on and has no failures")


async def _be_nudged(inbox: Inbox, teller: Teller, news: str) -> None:
    received = await inbox.next(NUDGE_S)
    if received is None:
        raise Unexpected(f"The demo expected a nudge for {news} within {NUDGE_S:.0f} s.")
    teller.nudge(received)
    expect(received.problem is None, f"a nudge for {news} that verifies, but {received.problem}")
    nudge = msgspec.json.decode(received.body, type=_Nudge)
    signed_at = received.signature.partition(",")[0]
    expect(
        (nudge.type, nudge.partner_id, f"t={nudge.at}")
        == ("results.available", PARTNER_ID, signed_at),
        f"a nudge for {news} that says whose feed has news, and when it was signed",
    )


async def _retry(backend: Backend, teller: Teller, seat_id: str) -> None:
    teller.step(
        "A retry",
        "Suppose that the backend never received the first seat's answer. It sends the same call "
        "again and gets the same seat, which is charged once.",
    )
    taken = await _seat(backend, FIRST)
    teller.exchange(taken)
    seat = _answered(taken)
    replayed = taken.headers.get("idempotent-replayed")
    expect(replayed == "true", "the header Idempotent-Replayed: true")
    expect((seat["seatId"], seat["status"]) == (seat_id, "ended"), "the first seat, as it is now")
    teller.say(f"The answer carried Idempotent-Replayed: {replayed}")


async def _be_refused(backend: Backend, teller: Teller) -> None:
    teller.step(
        "A refusal",
        "A stake of 1 is one cent, although one dollar was meant. Programs branch on the field "
        "reason. The field error is for people, and its words may change.",
    )
    refused = await backend.seat(GAME, SECOND, TEST_TIER, 1, "order-2")
    teller.exchange(refused)
    expect(refused.status == 400, "status 400")
    expect(refused.received.get("reason") == "stake_below_floor", "the reason stake_below_floor")
    expect(refused.received.get("floorUsdCents") == FLOOR_USD_CENTS, "the floor beside the reason")


async def _seat(backend: Backend, player: str) -> Exchange:
    return await backend.seat(GAME, player, TEST_TIER, FLOOR_USD_CENTS, f"order-1-{player}")


def _answered(exchange: Exchange) -> dict[str, Any]:
    expect(
        exchange.status == 200,
        f"status 200 from {exchange.method} {exchange.path}, "
        f"not {exchange.status}: {exchange.received}",
    )
    answer: dict[str, Any] = exchange.received
    return answer


def _rows(exchange: Exchange, outcome: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = _answered(exchange)["results"]
    expect(
        [row["outcome"] for row in rows] == [outcome, outcome],
        f"two rows with the outcome {outcome}",
    )
    return rows
