"""Money torture: a settlement server with faults, and kill -9 on both sides, under many seats.

Every seat must end settled exactly once, and both ledgers must say so.
"""

import random
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import trio

from pgs.domain.seats import Seat
from pgs.storage import seats as rows
from pgs.storage.ledger import check_ledger
from pgs.storage.open_money import count_open
from pgs.storage.sqlite.database import SqliteDatabase
from tests.beside import open_beside
from tests.conventions.tree import ROOT
from tests.journeys.settlement import SettlementProcess
from tests.torture.client import Connection, Gone
from tests.torture.server import Server

sys.path.insert(0, str(ROOT / "scripts"))

from reference_settlement.books import Books

PARTNERS, WORKERS, KILL_EVERY = 4, 16, 150
OPEN = (
    "select (select count(*) from seat where status = 'pending')"
    " + (select count(*) from match where money = 'due')"
)
FAULTS = (
    "slow=0.05:0.3",
    "500=0.05",
    "garbage=0.05",
    "cut-before=0.05",
    "cut-after=0.05",
    "decline=0.02",
    "out-of-order=0.1",
    "twice=0.1",
)


class Scale(msgspec.Struct, frozen=True):
    """How many seats are taken, and for how many seconds a charge or payout may be pending."""

    seats: int
    pending_s: int


class Play:
    """What the partners' backends have done and know."""

    def __init__(self, keys: list[dict[str, str]], seats: int) -> None:
        self.keys = keys
        self.left = [(number % PARTNERS, f"order-{number}") for number in range(seats)]
        self.answered: dict[tuple[int, str], str] = {}  # seat ids, by partner and order
        self.matches: list[tuple[int, str, str]] = []  # partner, match, one of its players
        self.decided = 0

    async def seat(self, connection: Connection, partner: int, order: str) -> bool:
        """Take a seat; return whether settlement has decided about it."""
        body = {
            "playerId": f"player-{order}",
            "gameId": "tic-tac-toe",
            "tierId": self.keys[partner]["tierId"],
            "stakeUsdCents": 100,
            "idempotencyKey": order,
        }
        key = self.keys[partner]["testKey"]
        status, _, answer = await connection.call("POST", "/partner/matches", key, body)
        if status not in (200, 402):
            assert status in (429, 503), answer
            return False
        seat_id = self.answered.setdefault((partner, order), answer["seatId"])
        assert seat_id == answer["seatId"], "one key, two seats"
        if answer["matchId"] is not None and answer["status"] == "matched":
            self.matches.append((partner, answer["matchId"], f"player-{order}"))
        return True

    async def decide(self, connection: Connection, rng: random.Random) -> None:
        """Decide a match. If no answer comes, put it back, to be decided again."""
        partner, match_id, player = self.matches.pop(rng.randrange(len(self.matches)))
        winner = rng.choice((player, None))
        body = {"outcome": "ended", "winnerPlayerId": winner}
        try:
            status, _, answer = await connection.call(
                "POST",
                f"/partner/test/matches/{match_id}/decide",
                self.keys[partner]["testKey"],
                body,
            )
        except Gone:
            self.matches.append((partner, match_id, player))
            raise
        # A match whose answer was lost may already have another result.
        assert status in (200, 409, 429, 500), answer
        if status in (200, 409):
            self.decided += 1
        else:
            self.matches.append((partner, match_id, player))


async def torture(folder: Path, scale: Scale, tell: Callable[[str], None]) -> str:
    """Play, kill, and prove both books; return what was done, in a sentence.

    `folder` is new and keeps both books. `tell` gets a line at each kill and at each later step.
    AssertionError if a seat is not settled exactly once, or the two books differ.
    """
    settlement = SettlementProcess(
        folder / "settlement", *FAULTS, f"pending=0.05:{scale.pending_s}"
    )
    server = Server(
        folder,
        PGS_SETTLEMENT_URL=settlement.url,
        PGS_SETTLEMENT_TOKEN_FILE=str(settlement.token_file),
    )
    try:
        play, kills = await _tortured(server, settlement, scale, tell)
        tell("the service stops, and both books are compared")
        code, _ = await trio.to_thread.run_sync(server.stop)
    finally:
        server.end()
        settlement.end()
    assert code == 0
    assert kills >= scale.seats // KILL_EVERY - 1
    return await _compare(server.folder, folder / "settlement", play, kills)


async def _tortured(
    server: Server, settlement: SettlementProcess, scale: Scale, tell: Callable[[str], None]
) -> tuple[Play, int]:
    """Return what was played and the number of kills, once nothing is open any more."""
    rng, play = random.Random(7), Play(server.seed(PARTNERS), scale.seats)
    for keys in play.keys:
        server.widen(keys["partnerId"], 10_000)
    settlement.start()
    server.start()
    kills = 0
    with trio.fail_after(120 + scale.seats + 2 * scale.pending_s):
        async with trio.open_nursery() as nursery:
            done = trio.Event()
            nursery.start_soon(_play_all, server, play, done)
            next_kill = KILL_EVERY
            while not done.is_set():
                await trio.sleep(0.05)
                if len(play.answered) >= next_kill:
                    next_kill += KILL_EVERY
                    kills += 1
                    killed = await _kill(rng, server, settlement)
                    tell(
                        f"{len(play.answered)} of {scale.seats} seats answered, "
                        f"{play.decided} matches decided; kill {kills}: {killed}"
                    )
        # Play ends: what waits is closed and refunded. Then the server makes no more faults.
        tell("all seats are answered; the partners are switched off")
        await _close(server, play)
        await _kill(rng, server, settlement)
        settlement.call("PUT", "/faults", [])
        tell("the settlement server has no faults any more; waiting for what is open")
        await _until_decided(server)
    return play, kills


async def _play_all(server: Server, play: Play, done: trio.Event) -> None:
    async with trio.open_nursery() as nursery:
        for number in range(WORKERS):
            nursery.start_soon(_work, server, play, random.Random(number))
    done.set()


async def _work(server: Server, play: Play, rng: random.Random) -> None:
    """Take seats and decide matches until every order is answered and every match is decided."""
    connection = Connection(server.base_url)
    while play.left or play.matches:
        try:
            if play.left and (not play.matches or rng.random() < 0.7):
                partner, order = play.left.pop()
                answered = False
                try:
                    answered = await play.seat(connection, partner, order)
                finally:
                    if not answered:
                        play.left.insert(rng.randrange(len(play.left) + 1), (partner, order))
                if not answered:
                    await trio.sleep(0.05)
            elif play.matches:
                await play.decide(connection, rng)
        except Gone:
            await trio.sleep(0.1)
    await connection.close()


async def _kill(rng: random.Random, server: Server, settlement: SettlementProcess) -> str:
    """Kill the service, the settlement server or both, start them again, and return which."""
    which = rng.choice(("service", "settlement", "both"))
    for one in ("service", "settlement"):
        process: Any = server if one == "service" else settlement
        if which in (one, "both"):
            await trio.to_thread.run_sync(process.end)
    await trio.sleep(rng.uniform(0, 0.5))
    if which in ("settlement", "both"):
        await trio.to_thread.run_sync(settlement.start)
    if which in ("service", "both"):
        await trio.to_thread.run_sync(server.start)
    return which


async def _close(server: Server, play: Play) -> None:
    """Switch the partners off: seats that wait and matches that run end, stakes go back."""
    for keys in play.keys:
        words = ["partner", "deactivate", keys["partnerId"], "--data", str(server.folder), "--json"]
        await trio.run_process([sys.executable, "-m", "pgs", *words], capture_stdout=True)


async def _until_decided(server: Server) -> None:
    """Wait until the service has nothing open any more."""
    while True:
        with closing(open_beside(server.folder / "pgs.db", read_only=True)) as rows:
            left = rows.execute(OPEN).get
        if left == 0:
            return
        await trio.sleep(1)


async def _compare(folder: Path, books_folder: Path, play: Play, kills: int) -> str:
    """Prove both ledgers, compare them seat by seat, and return what was done."""
    database, books = SqliteDatabase(folder), Books(books_folder)
    try:
        report = await check_ledger(database.reader)
        assert report.sound, report
        theirs = books.report()
        assert theirs["sound"], theirs
        assert sum(item.count for item in await count_open(database.reader, 0)) == 0
        charges, payouts = books.charges(), books.payouts()
        ours: list[Seat] = []
        for (partner, order), seat_id in play.answered.items():
            found = await rows.find_by_idempotency_key(
                database.reader, play.keys[partner]["partnerId"], "test", order
            )
            assert found is not None
            assert (found.seat_id, found.settlement) == (seat_id, "remote")
            ours.append(found)
        assert not play.left
        for seat in ours:
            charged = "declined" if seat.status == "declined" else "confirmed"
            assert charges.pop(seat.seat_id) == (seat.stake_usd_cents, charged), seat
            kind = "prize" if seat.payout_usd_cents else "refund"
            owed = (seat.payout_usd_cents or 0) + (seat.refund_usd_cents or 0)
            paid = payouts.pop((seat.match_id or "", seat.seat_id), None)
            assert paid == ((kind, owed, "confirmed") if owed else None), seat
        assert (charges, payouts) == ({}, {}), "the server has more than was asked for"
        (of,) = report.totals
        player = of.payouts_usd_cents + of.refunds_usd_cents - of.stakes_usd_cents
        assert player == sum(total["playerUsdCents"] for total in theirs["totals"])
        return (
            f"{len(ours)} seats, {play.decided} matches decided, {kills} kills; "
            f"posted again: {theirs['repeatedCharges']} charges, {theirs['repeatedPayouts']} "
            f"payouts; declined: {theirs['declinedCharges']}; player balance on both sides: "
            f"{player} cents"
        )
    finally:
        database.close()
        books.close()
