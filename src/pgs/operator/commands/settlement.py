"""`settlement.…`: charges and payouts that settlement has not decided."""

from typing import Annotated, Literal

import msgspec
import trio
from msgspec import Meta

from pgs.actors.core import Core
from pgs.actors.kernel.mail import Crashed, Overloaded
from pgs.actors.messages import seats as m
from pgs.actors.messages.account.event_log import NoteResolution
from pgs.actors.seating.settlement_call import ANSWER_S
from pgs.domain.accounts import Account
from pgs.domain.errors import BadRequest, Refusal
from pgs.domain.matches import MatchWithSeats
from pgs.domain.members import PLATFORM
from pgs.domain.seats import Seat
from pgs.domain.shards import shard_of
from pgs.operator.accounts import ask_account
from pgs.operator.command import Args, OperatorCommand
from pgs.operator.forwarding import answers_of_others
from pgs.operator.messages import Done
from pgs.operator.open_items import (
    UNSET,
    After,
    after_of,
    charge_item,
    find_open,
    items_of,
    page_of,
    payout_items,
)
from pgs.operator.settlement_records import Asked, OpenItem, OpenPage, Resolved

PAGE = 500
"""Seats or matches in one answer, and in one read of the rows: some 200 kB of JSON."""

READS_MAX = 3
"""Reads of one page, at most, while nodes disagree about its items. They disagree only while an
item changes, and an item changes only once or twice before it is decided."""

CHANGED = "its items changed while they were read. Repeat the command."

LOOK_S = 0.05
"""Seconds between two looks for the outcome of what was asked: too short for people to notice."""

ItemId = Annotated[str, Meta(min_length=1, max_length=160)]


class ItemsAfter(Args, frozen=True):
    """A page of the list. `after` is the `next_after` of the page before."""

    after: Annotated[str, Meta(max_length=512)] = ""
    limit: Annotated[int, Meta(ge=1, le=PAGE)] = PAGE


class Item(Args, frozen=True):
    """The charge or payout that a command is about; None: all."""

    item_id: ItemId | None = None


class Decision(Args, frozen=True):
    """What an operator decides about a charge or payout."""

    item_id: ItemId
    decision: Literal["confirmed", "declined"]


async def list_open(core: Core, args: ItemsAfter) -> OpenPage | BadRequest:
    """Return a page of what is open.

    Only the node that owns a partner knows how often settlement was asked for the partner's items.
    So the node that an operator asks sends the same command to the other nodes, and each of them
    answers with the items of its own partners. If every node has answered and an item is in none of
    the answers, the item may have changed between the reads of two nodes. Then the page is read
    again, up to `READS_MAX` times in all.
    """
    after = after_of(args.after)
    if after is None:
        return BadRequest("`after` must be the `nextAfter` of the page before.")
    page, reads, shards = await _read_page(core, after, args), 1, core.shards
    while reads < READS_MAX and _unknown(page) and not page.unreached:
        page, reads = await _read_page(core, after, args), reads + 1
    if shards is None or page.unreached or not _unknown(page):
        return page
    owners = (shards.owner_of(shard_of(item.partner_id)) for item in _unknown(page))
    names = {owner.name if owner is not None else "nobody" for owner in owners}
    return msgspec.structs.replace(page, unreached=dict.fromkeys(sorted(names), CHANGED))


def _unknown(page: OpenPage) -> list[OpenItem]:
    return [item for item in page.items if item.tries is None]


async def _read_page(core: Core, after: After, args: ItemsAfter) -> OpenPage:
    found = await page_of(core, after, args.limit)
    items = items_of(core, found)
    further = None if found.next_after is None else found.next_after.text
    own = [item for item in items if core.directory.owns(item.partner_id)]
    if core.shards is None or len(own) == len(items):
        return OpenPage(items, further)
    if core.nodes is None:
        return OpenPage(own, further)
    known = {item.id: item for item in own}
    unreached = {}
    for node, answer in (await answers_of_others(core, "settlement.list", args)).items():
        if isinstance(answer, Done):
            theirs = msgspec.json.decode(answer.result, type=OpenPage).items
            known |= {item.id: item for item in theirs}
        else:
            unreached[node] = answer.error
    # An item that no node has reported is listed too: it is open.
    told = [known.get(item.id, msgspec.structs.replace(item, tries=None)) for item in items]
    return OpenPage(told, further, unreached)


async def retry(core: Core, args: Item) -> Asked | BadRequest:
    """Ask settlement now about one open item or all, even if the breaker lets no call through."""
    core.parts.settlements.breaker.reset()
    if args.item_id is not None:
        return await _retry_one(core, args.item_id)
    asked = unset = busy = 0
    after: After | None = After()
    while after is not None:
        found = await page_of(core, after, PAGE)
        ones: tuple[Seat | MatchWithSeats, ...] = (*found.seats, *found.matches)
        for one in ones:
            if not core.directory.owns(_partner_of(one)):  # the node that owns this partner asks
                continue
            count = len(_items(core, one))  # counted now, since the answer may come at once
            if core.parts.settlements.port(_side(one)) is None:
                unset += count
                continue
            try:
                asked += count if await _ask_now(core, one) else 0
            except (Overloaded, Crashed):  # go on with the other partners
                busy += count
        after = found.next_after
    told = Asked(asked, unset, busy)
    for node, answer in (await answers_of_others(core, "settlement.retry", args)).items():
        told = told.and_also(node, answer)
    return told


async def _of_item(core: Core, args: Item | Decision) -> int | None:
    one = None if args.item_id is None else await find_open(core, args.item_id)
    return None if one is None else shard_of(_partner_of(one))


def _partner_of(one: Seat | MatchWithSeats) -> str:
    return one.partner_id if isinstance(one, Seat) else one.match.partner_id


async def resolve(core: Core, args: Decision) -> Resolved | Refusal | BadRequest:
    """Decide an open charge or payout in settlement's place.

    An entry in the event log is written first.
    """
    one = await find_open(core, args.item_id)
    item = None if one is None else _item_of(core, one, args.item_id)
    if one is None or item is None:
        return _not_open(args.item_id)
    if item.kind != "charge" and args.decision == "declined":
        return BadRequest(
            "A payout can only be confirmed: the money is owed. "
            "If settlement does not pay it, pay it by other means first."
        )
    noted = await ask_account(
        core,
        item.partner_id,
        NoteResolution(
            PLATFORM, item.environment, item.id, item.kind, item.amount_usd_cents, args.decision
        ),
    )
    if not isinstance(noted, Account):
        return noted
    status = await _resolve(core, one, item, args.decision)
    if status is None:
        return _not_open(args.item_id)
    return Resolved(item.id, item.kind, args.decision, status)


async def _retry_one(core: Core, item_id: str) -> Asked | BadRequest:
    one = await find_open(core, item_id)
    if one is None:
        return _not_open(item_id)
    if core.parts.settlements.port(_side(one)) is None:
        return BadRequest(f"{item_id} cannot be asked for: {UNSET}.")
    before = {item.id: item.tries or 0 for item in _items(core, one)}
    await _ask_now(core, one)
    outcome = "no answer yet"
    with trio.move_on_after(ANSWER_S):
        # Polled: the answer goes to the seats actor, and no event announces it.
        while (told := await _outcome(core, item_id, before)) is None:  # noqa: ASYNC110  reads rows
            await trio.sleep(LOOK_S)
        outcome = told
    return Asked(len(before), outcome=outcome)


async def _outcome(core: Core, item_id: str, tries: dict[str, int]) -> str | None:
    """Return what became of an open charge, or of the open payouts of a match.

    None if that is not known yet. `tries`: for each charge or payout, by its id, how often
    settlement had been asked before this retry.
    """
    one = await find_open(core, item_id)
    if one is None:
        return "decided"
    items = _items(core, one)
    # As many tries as before: the answer has not come yet. Fewer: the item is decided and its tries
    # are forgotten, but the row that was read did not show that yet.
    if any((item.tries or 0) <= tries.get(item.id, -1) for item in items):
        return None
    return "; ".join(f"{item.id}: {item.last_answer}" for item in items) or "decided"


async def _ask_now(core: Core, one: Seat | MatchWithSeats) -> bool:
    if isinstance(one, Seat):
        seats = core.directory.partner(one.partner_id).seats(one.environment)
        return (await seats.ask(m.AskChargeNow(one.seat_id))).was_open
    match = one.match
    seats = core.directory.partner(match.partner_id).seats(match.environment)
    return (await seats.ask(m.AskPayoutsNow(match.match_id))).was_open


async def _resolve(
    core: Core,
    one: Seat | MatchWithSeats,
    item: OpenItem,
    decision: Literal["confirmed", "declined"],
) -> str | None:
    """Return the seat's status, or `confirmed` for a payout; None if it was no longer open."""
    seats = core.directory.partner(item.partner_id).seats(item.environment)
    if isinstance(one, Seat):
        seat = await seats.ask(m.ResolveCharge(item.seat_id, decision))
        return None if seat is None else seat.status
    resolved = await seats.ask(m.ResolvePayout(one.match.match_id, item.seat_id))
    return "confirmed" if resolved.was_open else None


def _items(core: Core, one: Seat | MatchWithSeats) -> list[OpenItem]:
    return [charge_item(core, one)] if isinstance(one, Seat) else [*payout_items(core, one)]


def _item_of(core: Core, one: Seat | MatchWithSeats, item_id: str) -> OpenItem | None:
    """Return the open item of that id. The id of a match is not enough: it may have two payouts."""
    return next((item for item in _items(core, one) if item.id == item_id), None)


def _side(one: Seat | MatchWithSeats) -> Literal["embedded", "remote"]:
    return one.settlement if isinstance(one, Seat) else one.seats[0].settlement


def _not_open(item_id: str) -> BadRequest:
    return BadRequest(
        f"{item_id} names no open charge or payout; `pgs settlement list` shows all that are."
    )


SETTLEMENT_LIST = OperatorCommand("settlement.list", ItemsAfter, OpenPage, list_open)
SETTLEMENT_RETRY = OperatorCommand(
    "settlement.retry", Item, Asked, retry, moves_money=True, about=_of_item
)
SETTLEMENT_RESOLVE = OperatorCommand(
    "settlement.resolve", Decision, Resolved, resolve, moves_money=True, about=_of_item
)

COMMANDS = (SETTLEMENT_LIST, SETTLEMENT_RETRY, SETTLEMENT_RESOLVE)
