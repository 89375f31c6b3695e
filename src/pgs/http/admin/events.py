"""`GET events`: the event log of the account."""

import msgspec

from pgs.domain.roles import may_see_invites
from pgs.http.admin.authorization import AdminCall
from pgs.http.admin.endpoints import admin_list
from pgs.http.api.endpoint import Answer
from pgs.http.api.lists import Wanted, cut, wanted_page
from pgs.storage.events import events_page


class EventRecord(msgspec.Struct, frozen=True, rename="camel"):
    """An entry of the event log. `actor` is a member's uid or `platform`; `at` in epoch seconds."""

    event_id: str
    at: int
    actor: str
    action: str
    detail: msgspec.Raw


class EventPage(msgspec.Struct, frozen=True, rename="camel"):
    """A page of the event log, the newest entry first."""

    events: list[EventRecord]
    next_cursor: str | None
    has_more: bool


_KIND = "admin.events"


async def list_events(call: AdminCall) -> Answer:
    """Return a page of the log. Callers who may not see invites get no entries about invites."""
    wanted = wanted_page(call, _KIND)
    if not isinstance(wanted, Wanted):
        return wanted
    found = await events_page(
        call.services.parts.database.reader,
        call.principal.account.partner_id,
        wanted.before,
        wanted.limit + 1,
        with_invites=may_see_invites(call.principal.role),
    )
    shown, page = cut(call, _KIND, wanted, found, lambda event: event.seq)
    records = [
        EventRecord(
            event.event_id, event.at, event.actor, event.action, msgspec.Raw(event.detail.encode())
        )
        for event in shown
    ]
    return EventPage(records, page.next_cursor, page.has_more)


ENDPOINTS = (admin_list("events", list_events, EventPage, "The event log"),)
