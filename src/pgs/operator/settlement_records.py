"""The records of the `settlement` commands: open charges and payouts, and what was done to them."""

from collections.abc import Mapping
from typing import Literal

import msgspec

from pgs.domain.environments import Environment
from pgs.domain.seats import SettlementSide
from pgs.operator.messages import Answer, Done
from pgs.operator.records import Record


class OpenItem(Record, frozen=True, kw_only=True):
    """A charge or payout that settlement has not decided.

    `id`: for a charge, the id of its seat; for a payout, the ids of its match and its seat, as
    `MATCH:SEAT`. `since` and `last_at` are epoch seconds. `tries`: how often settlement was asked
    for the item. `last_answer` and `last_at` are about the last of these tries. Only the node that
    owns the item's partner knows these three values, and keeps them in memory. So they are reset
    when that node starts, or when another node takes the partner over. `tries` is None if the owner
    has not reported the item. `why`: the reason, if settlement is not asked for the item.
    """

    id: str
    kind: Literal["charge", "prize", "refund"]
    partner_id: str
    environment: Environment
    seat_id: str
    amount_usd_cents: int
    since: int
    settlement: SettlementSide
    player_id: str
    match_id: str | None = None
    tries: int | None = 0
    last_answer: str | None = None
    last_at: int | None = None
    why: str | None = None


class OpenPage(Record, frozen=True):
    """A page of open items: charges before payouts, the oldest first.

    `next_after` is the `after` of the next page, absent on the last page. `unreached`: nodes that
    have not said how often settlement was asked for the items of their partners, and why.
    """

    items: list[OpenItem]
    next_after: str | None = None
    unreached: Mapping[str, str] = {}


class Asked(Record, frozen=True):
    """What a retry did: `asked` counts the open charges and payouts for which it asked settlement.

    `unset` counts those for which it did not ask because the settings name no settlement server,
    and `busy` those for which it did not ask because their partner is degraded or its actors are
    overloaded. `outcome`: what has become of the item that was named. `unreached`: the nodes that
    have not asked for their items, and why.
    """

    asked: int
    unset: int = 0
    busy: int = 0
    outcome: str | None = None
    unreached: Mapping[str, str] = {}

    def and_also(self, node: str, answer: Answer) -> "Asked":
        """Return these figures with those of another node's answer added."""
        if not isinstance(answer, Done):
            return msgspec.structs.replace(self, unreached={**self.unreached, node: answer.error})
        more = msgspec.json.decode(answer.result, type=Asked)
        return msgspec.structs.replace(
            self,
            asked=self.asked + more.asked,
            unset=self.unset + more.unset,
            busy=self.busy + more.busy,
        )


class Resolved(Record, frozen=True):
    """A charge or payout that an operator has decided.

    `status`: the status of its seat, or `confirmed` for a payout.
    """

    id: str
    kind: str
    decision: str
    status: str
