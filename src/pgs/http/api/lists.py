"""Pages of lists: `limit`, an authenticated cursor, and whether there is more."""

from collections.abc import Callable, Sequence
from typing import Final, Protocol, TypeVar

import msgspec

from pgs.domain.accounts import Account
from pgs.domain.cursors import make_cursor, read_cursor
from pgs.domain.environments import Environment
from pgs.domain.errors import BadRequest, Refusal, refuse
from pgs.http.api.endpoint import CallBy
from pgs.http.api.query import int_param
from pgs.storage.columns import NEWEST

T = TypeVar("T")

LIMIT_DEFAULT: Final = 100
"""Entries on a page of a list if the call names no `limit`, as the interface promises."""

LIMIT_MAX: Final = 500
"""Entries on the longest page of a list, as the interface promises."""


# Every cursor names an environment. Lists that belong to no environment use this one in their
# cursors; the kind of a cursor still keeps it from being used for another list.
OF_THE_ACCOUNT: Final[Environment] = "live"


class OfAccount(Protocol):
    """A caller who acts for an account, with an API key or as a member."""

    @property
    def account(self) -> Account:
        """The account for which the caller acts."""
        ...


AccountCall = CallBy[OfAccount]
"""A call that acts for an account, with an API key or an identity token."""


class Wanted(msgspec.Struct, frozen=True):
    """The page that a call asks for: at most `limit` entries after a position.

    `after` is None for the first page.
    """

    limit: int
    after: str | int | None

    @property
    def before(self) -> int:
        """The sequence number below which the page begins, in a list with the newest first."""
        return self.after if isinstance(self.after, int) else NEWEST


class Page(msgspec.Struct, frozen=True):
    """The cursor of the next page, None on the last one."""

    next_cursor: str | None
    has_more: bool


def wanted_limit(call: AccountCall) -> int | BadRequest:
    """Return how many entries a call asks for, or what is wrong with its `limit`."""
    return int_param(dict(call.query), "limit", 1, LIMIT_MAX, LIMIT_DEFAULT)


def wanted_page(
    call: AccountCall,
    kind: str,
    environment: Environment = OF_THE_ACCOUNT,
    owner: str | None = None,
) -> Wanted | Refusal | BadRequest:
    """Return the page of the list `kind` that a call asks for, or what is wrong with the call.

    `owner` names whose list it is. None: the list of the caller's account.
    """
    limit = wanted_limit(call)
    if isinstance(limit, BadRequest):
        return limit
    text = call.query.get("cursor")
    if text is None:
        return Wanted(limit, None)
    after = read_cursor(call.services.parts.ring, text, kind, _owner(call, owner), environment)
    return refuse("invalid_cursor") if after is None else Wanted(limit, after)


def cut(
    call: AccountCall,
    kind: str,
    wanted: Wanted,
    found: Sequence[T],
    position: Callable[[T], str | int],
    environment: Environment = OF_THE_ACCOUNT,
    owner: str | None = None,
) -> tuple[Sequence[T], Page]:
    """Return the entries of the page, and the cursor of the next page.

    `found` are the entries after the wanted position: at least one more than `limit` if there are
    that many. `position` returns an entry's position. `owner` is as in `wanted_page`.
    """
    shown = found[: wanted.limit]
    last = position(shown[-1]) if len(found) > wanted.limit else None
    return shown, page_to(call, kind, last, environment, owner)


def page_to(
    call: AccountCall,
    kind: str,
    last: str | int | None,
    environment: Environment = OF_THE_ACCOUNT,
    owner: str | None = None,
) -> Page:
    """Return the cursor of the page after the position `last`; no cursor if `last` is None."""
    if last is None:
        return Page(None, has_more=False)
    cursor = make_cursor(call.services.parts.ring, kind, _owner(call, owner), environment, last)
    return Page(cursor, has_more=True)


def _owner(call: AccountCall, owner: str | None) -> str:
    return call.principal.account.partner_id if owner is None else owner


def follow(entries: Sequence[T], wanted: Wanted, position: Callable[[T], str]) -> Sequence[T]:
    """Return the entries of a list in memory that come after the wanted position.

    Return all entries if the one at that position is gone.
    """
    if wanted.after is None:
        return entries
    places = [position(entry) for entry in entries]
    return entries[places.index(str(wanted.after)) + 1 :] if wanted.after in places else entries
