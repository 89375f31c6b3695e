"""Reads and extends an account's event log: what changed, who changed it, and when."""

from typing import Any

import msgspec

from pgs.storage.reader import Reader
from pgs.storage.transactions import Stmt


class Event(msgspec.Struct, frozen=True):
    """An entry of the log.

    `actor` is a uid or `platform`, `action` a `noun.verb`, and `detail` a JSON object as text,
    without secrets.
    """

    seq: int
    event_id: str
    at: int
    actor: str
    action: str
    detail: str


async def events_page(
    reader: Reader, partner_id: str, before: int, page_size: int, *, with_invites: bool
) -> list[Event]:
    """Return entries with a sequence number below `before`, newest first; begin at `NEWEST`.

    Without `with_invites`, entries about invites are left out.
    """
    return [
        Event(*row)
        for row in await reader.all(
            "events.events_page",
            partner_id=partner_id,
            before=before,
            page_size=page_size,
            with_invites=int(with_invites),
        )
    ]


def insert_event(partner_id: str, event: Event) -> Stmt:
    """Return the statement that adds an entry; a second one with its sequence number conflicts."""
    params: dict[str, Any] = {"partner_id": partner_id, **msgspec.structs.asdict(event)}
    return Stmt("events.insert_event", params, 1)
