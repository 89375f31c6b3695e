"""A core on a virtual clock with a partner that may play, and a settlement that does as a test says."""

from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal
from unittest import mock

import msgspec
import trio
import trio.testing

import pgs.app
from pgs.actors.core import Core
from pgs.actors.delivery.courier import NudgePort
from pgs.actors.messages.account import (
    AgreeTerms,
    CreatePartner,
    SetPrices,
    SwitchAccount,
)
from pgs.actors.messages.catalogue import (
    SetTier,
)
from pgs.actors.messages.seats import (
    DecideMatch,
    MatchRecord,
    Seated,
    StakeSeat,
)
from pgs.actors.partners import PartnerActors
from pgs.actors.seating.settlement import ChargeAnswer, SettlementPort, Unpublished
from pgs.app import open_core
from pgs.clock import SystemClock
from pgs.config import Config
from pgs.domain.accounts import Account
from pgs.domain.environments import ENVIRONMENTS, Environment
from pgs.domain.errors import Refusal
from pgs.domain.seats import Match, Payout, Seat
from pgs.storage import seats as rows
from pgs.storage.database import Database
from pgs.storage.ledger import check_ledger
from pgs.storage.transactions import Stmt, Tx
from tests.virtual import START, Faults, SeededRng, clock

GAME = "tic-tac-toe"
FLOOR, PRIZE = 100, 180

Answer = Literal["confirmed", "pending", "declined", "unpublished", "broken", "hang"]


class Late(msgspec.Struct, frozen=True):
    """An answer that comes after so many seconds."""

    after_s: float
    answer: Answer


class Money:
    """A settlement that keeps money elsewhere. Each list of answers is used up in order; its last one holds from then on."""

    instant = False

    def __init__(self) -> None:
        self.of_charge: dict[str, list[Answer | Late]] = {}  # by idempotency key
        self.of_payout: dict[str, list[Answer | Late]] = {}  # by player
        self.asked: list[
            tuple[float, str]
        ] = []  # when a charge was asked for, and its idempotency key
        self.charged: dict[str, int] = {}  # seat id → US cents
        self.paid: dict[tuple[str, str, str], int] = {}  # match, seat, kind → US cents
        self.payouts_asked: dict[tuple[str, str], int] = defaultdict(int)

    async def charge(self, seat: Seat) -> ChargeAnswer:
        self.asked.append((trio.current_time(), seat.idempotency_key))
        answer = await _as_told(self.of_charge.get(seat.idempotency_key, ["confirmed"]))
        if answer == "confirmed":
            self.charged[seat.seat_id] = seat.stake_usd_cents
        return answer

    async def pay(self, match_id: str, payout: Payout) -> ChargeAnswer:
        self.payouts_asked[match_id, payout.seat_id] += 1
        answer = await _as_told(self.of_payout.get(payout.player_id, ["confirmed"]))
        if answer == "confirmed":
            self.paid[match_id, payout.seat_id, payout.kind] = payout.amount_usd_cents
        return answer


async def _as_told(answers: list[Answer | Late]) -> ChargeAnswer:
    told = answers.pop(0) if len(answers) > 1 else answers[0]
    if isinstance(told, Late):
        await trio.sleep(told.after_s)
        told = told.answer
    if told == "hang":
        await trio.sleep_forever()
    elif told == "unpublished":
        raise Unpublished("502")
    elif told == "broken":
        raise RuntimeError("a fault of the port itself")
    else:
        return told
    raise AssertionError


class Stage:
    """The core and short words for what tests do with it; the partner is `acme` unless said otherwise."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self.parts = core.parts
        self.reader = core.parts.database.reader

    def partner(self, partner: str = "acme") -> PartnerActors:
        return self.core.directory.partner(partner)

    def account(self, partner: str = "acme") -> Account:
        account = self.parts.registry.account(partner)
        assert account is not None
        return account

    async def open_partner(self, partner: str = "acme") -> None:
        """Open an account that has agreed to the terms."""
        made = await self.partner(partner).account().ask(CreatePartner(partner, "ops@acme.example"))
        assert isinstance(made, tuple)
        assert isinstance(await self.partner(partner).account().ask(AgreeTerms("ops", 1)), Account)

    async def set_tier(self, tier: str, floor: int, prize: int) -> None:
        for environment in ENVIRONMENTS:
            assert isinstance(
                await self.parts.catalogue.ref.ask(SetTier(environment, tier, None, floor, prize)),
                int,
            )

    async def set_prices(
        self, prices: dict[str, int], environment: Environment = "test", partner: str = "acme"
    ) -> None:
        assert isinstance(
            await self.partner(partner).account().ask(SetPrices("ops", environment, prices)),
            Account,
        )

    async def switch(self, active: bool, partner: str = "acme", by: str = "ops") -> int:
        """Switch the account, and close its play as whoever switches it off does; return how much was closed."""
        assert isinstance(
            await self.partner(partner).account().ask(SwitchAccount(by, active)), Account
        )
        return 0 if active else await self.core.close_play(partner, "account_inactive")

    async def ask_seat(
        self,
        player: str,
        key: str | None = None,
        cents: int = FLOOR,
        *,
        tier: str = "bronze",
        game: str = GAME,
        environment: Environment = "test",
        partner: str = "acme",
        ref: str | None = None,
    ) -> Seated | Refusal:
        command = StakeSeat(player, game, tier, cents, player if key is None else key, ref)
        return await self.partner(partner).seats(environment).ask(command)

    async def seat(self, *args: Any, **named: Any) -> Seat:
        """Return the seat that was taken, or taken before."""
        reply = await self.ask_seat(*args, **named)
        assert isinstance(reply, Seated), reply
        return reply.seat

    async def decide(
        self,
        match_id: str | None,
        winner: str | None,
        environment: Environment = "test",
        partner: str = "acme",
    ) -> Match:
        assert match_id is not None
        command = DecideMatch(match_id, "ended", winner, "decided_by_test_key")
        record = await self.partner(partner).seats(environment).ask(command)
        assert isinstance(record, MatchRecord), record
        return record.match

    def row(self, seat: Seat) -> Seat:
        """Return a seat as its row now is."""
        now = rows.find_seat(self.reader, seat.partner_id, seat.seat_id)
        assert now is not None
        return now

    def by_key(self, key: str, environment: Environment = "test", partner: str = "acme") -> Seat:
        seat = rows.find_by_idempotency_key(self.reader, partner, environment, key)
        assert seat is not None
        return seat

    def match_of(self, seat: Seat) -> Match:
        match_id = self.row(seat).match_id
        assert match_id is not None
        match = rows.find_match(self.reader, seat.partner_id, match_id)
        assert match is not None
        return match

    def feed(
        self, environment: Environment = "test", partner: str = "acme", after: int = 0
    ) -> list[Seat]:
        return rows.feed_page(self.reader, partner, environment, after, 10_000)

    def head(self, environment: Environment = "test", partner: str = "acme") -> rows.Head:
        return rows.find_head(self.reader, partner, environment)

    def count(self, query: str, **params: Any) -> int:
        return len(self.reader.all(query, **params))

    def check_money(self) -> None:
        report = check_ledger(self.reader)
        assert report.sound, report

    async def write_past_the_actors(self, *stmts: Stmt) -> None:
        """Commit statements that no actor knows of."""
        await self.parts.database.writer.submit(Tx("acme", stmts))


@asynccontextmanager
async def stage(
    folder: Path,
    settlement: SettlementPort | None = None,
    *,
    seed: int = 0,
    faults: Faults | None = None,
    on_event: Callable[[str], None] = lambda name: None,
    threaded: bool = False,
    outbound: NudgePort | None = None,
) -> AsyncIterator[Stage]:
    """Open the core on a folder; the first time, with the tier `bronze` and the partner `acme`.

    `threaded`: with the writer's own thread, and so in real time.
    """
    database = partial(Database, factory=faults.factory) if faults is not None else Database
    async with AsyncExitStack() as stack:
        with mock.patch.object(pgs.app, "Database", database):
            opened = open_core(
                Config(data_dir=folder),
                clock=SystemClock() if threaded else clock(),
                rng=SeededRng(seed),
                settlement=settlement,
                outbound=outbound,
                inline=not threaded,
                on_event=on_event,
            )
            core = await stack.enter_async_context(opened)
        made = Stage(core)
        if core.parts.registry.account("acme") is None:
            await made.set_tier("bronze", FLOOR, PRIZE)
            await made.open_partner()
        try:
            yield made
        finally:
            if faults is not None:
                faults.heal()


async def until(seconds: float) -> None:
    """Wait until so many seconds of virtual time have passed since the start, and whatever is due then has been done.

    A tenth of a millisecond more is given, since epoch seconds as floats are exact to a quarter of a microsecond only.
    """
    await trio.sleep(seconds + 0.0001 - trio.current_time())
    await trio.testing.wait_all_tasks_blocked()


def at(seconds: int) -> int:
    """Return the epoch second after so many seconds of virtual time."""
    return START + seconds


def money(seat: Seat) -> tuple[int | None, int | None, int | None]:
    """Return what a seat's row says of its money: payout, refund, rake."""
    return seat.payout_usd_cents, seat.refund_usd_cents, seat.rake_usd_cents


def keys_of(seats: Sequence[Seat]) -> list[str]:
    """Return the idempotency keys of seats, in order."""
    return [seat.idempotency_key for seat in seats]
