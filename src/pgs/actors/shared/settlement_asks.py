"""The open charges and payouts that settlement was asked for since the start, and its answers."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Literal

import msgspec

ASKS_MAX = 100_000
"""Charges and payouts that are remembered: some 30 MB. Beyond that, what was noted longest ago is
forgotten. If it was an answer of settlement, settlement is asked once more, which is harmless. An
operator's confirmation is also in the database, and is read again before settlement is asked."""

Said = Literal["confirmed", "pending", "declined"]


class Ask(msgspec.Struct, frozen=True):
    """What is known about one charge or payout.

    `tries`: calls since the start. `said`: the server's answer to the last call, None if the server
    gave no valid answer. An operator who confirms a payout sets `said` to `confirmed`. An operator
    who lets settlement be asked again for a declined payout sets `said` to None. `answer`: how the
    last call ended, for people. `at`: when that call ended, in epoch seconds.
    """

    tries: int = 0
    said: Said | None = None
    answer: str | None = None
    at: int | None = None


class Asks:
    """The open charges and payouts of all partners, by partner and item.

    An item has the name that the server knows: the id of the seat for a charge, the ids of match
    and seat for a payout. All that the embedded settlement pays for a match is one item, with the
    id of the match.
    """

    def __init__(self) -> None:
        self._asks: OrderedDict[tuple[str, str], Ask] = OrderedDict()
        self._under_way: set[tuple[str, str]] = set()

    def find(self, partner_id: str, item_id: str) -> Ask:
        """Return what is known about an item."""
        return self._asks.get((partner_id, item_id), Ask())

    def begin(self, partner_id: str, item_id: str) -> bool:
        """Note that a call about an item begins; return False if one is already under way."""
        key = (partner_id, item_id)
        if key in self._under_way:
            return False
        self._under_way.add(key)
        return True

    def end(self, partner_id: str, item_id: str) -> None:
        """Note that the call about an item has ended."""
        self._under_way.discard((partner_id, item_id))

    def note(self, partner_id: str, item_id: str, said: Said | None, answer: str, at: int) -> None:
        """Note how a call ended. `said`: the server's answer, None if it gave no valid one."""
        tries = self.find(partner_id, item_id).tries + 1
        self._keep(partner_id, item_id, Ask(tries, said, answer, at))

    def confirm(self, partner_id: str, item_id: str) -> None:
        """Note that a payout is confirmed, so that settlement is not asked for it again."""
        known = self.find(partner_id, item_id)
        self._keep(partner_id, item_id, msgspec.structs.replace(known, said="confirmed"))

    def reopen(self, partner_id: str, item_id: str) -> None:
        """Let settlement be asked again for a payout that it declined."""
        known = self.find(partner_id, item_id)
        if known.said == "declined":
            self._asks[partner_id, item_id] = msgspec.structs.replace(known, said=None)

    def forget_all(self, belongs: Callable[[str], bool]) -> None:
        """Forget the items of these partners, even those with a call under way."""
        for key in [key for key in self._asks if belongs(key[0])]:
            del self._asks[key]
        self._under_way = {key for key in self._under_way if not belongs(key[0])}

    def forget(self, partner_id: str, *item_ids: str) -> None:
        """Forget items that are decided."""
        for item_id in item_ids:
            self._asks.pop((partner_id, item_id), None)

    def _keep(self, partner_id: str, item_id: str, ask: Ask) -> None:
        self._asks[partner_id, item_id] = ask
        # An item that is noted again becomes the newest. Otherwise, with the memory full, noting
        # the second payout of a match could push out the first, which was noted just before.
        self._asks.move_to_end((partner_id, item_id))
        if len(self._asks) > ASKS_MAX:
            self._asks.popitem(last=False)
