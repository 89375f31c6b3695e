"""Functions with which the modules of the admin API declare their calls."""

from functools import wraps
from typing import Any, Final, Literal

import msgspec

from pgs.domain.errors import BadRequest, Refusal
from pgs.http.api.endpoint import Answer, CallBy, Endpoint, Handler, Reply, Stream

PREFIX: Final = "/partner/admin/"

LIST_QUERY: Final = frozenset({"cursor", "limit"})


ACCOUNT_REVISION: Final = b"account-revision"
"""Header of the answer to a read: the account's revision from before the read. The data that was
read is at least as new, so a write based on that data may name this revision in If-Match."""


def admin_read(
    path: str,
    handler: Handler,
    response: type[msgspec.Struct],
    summary: str,
    *,
    query: frozenset[str] = frozenset(),
    errors: tuple[str, ...] = (),
) -> Endpoint:
    """Return a `GET` of the admin API. `path` is what follows `/partner/admin/`."""
    return Endpoint(
        method="GET",
        path=PREFIX + path,
        handler=_with_revision(handler),
        response=response,
        summary=summary,
        credential="identity",
        query=query,
        errors=errors,
    )


def _with_revision(handler: Handler) -> Handler:
    """Return a handler that adds the account's revision as a header, if the caller is a member."""

    @wraps(handler)
    async def read(call: CallBy[Any]) -> Answer:
        answer = await handler(call)
        known = call.principal.known
        if known is None or isinstance(answer, Refusal | BadRequest | Stream):
            return answer
        # The account as it was when the call was admitted.
        revision = (ACCOUNT_REVISION, b"%d" % known.account.revision)
        record = answer if isinstance(answer, Reply) else Reply(answer)
        return Reply(record.body, (*record.headers, revision))

    return read


def admin_list(
    path: str, handler: Handler, response: type[msgspec.Struct], summary: str
) -> Endpoint:
    """Return a `GET` that takes `cursor` and `limit` and answers with a page of a list."""
    return admin_read(
        path, handler, response, summary, query=LIST_QUERY, errors=("invalid_cursor",)
    )


def admin_write(
    method: Literal["POST", "PUT", "PATCH", "DELETE"],
    path: str,
    handler: Handler,
    response: type[msgspec.Struct],
    summary: str,
    *,
    request: type[msgspec.Struct] | None = None,
    errors: tuple[str, ...] = (),
    elsewhere: tuple[str, ...] = (),
    may_lack_body: bool = False,
    query: frozenset[str] = frozenset(),
    takes_seats: bool = False,
) -> Endpoint:
    """Return a write of the admin API. `path` is what follows `/partner/admin/`.

    `errors` are the refusals of this call; `partner_changed`, which any write can get, is added.
    With `takes_seats`, an outage or a crash is answered `settlement_unavailable`, as in the partner
    API, since the call may already have taken a seat.
    """
    return Endpoint(
        method=method,
        path=PREFIX + path,
        handler=handler,
        response=response,
        summary=summary,
        credential="identity",
        request=request,
        errors=(*errors, "partner_changed"),
        elsewhere=elsewhere,
        may_lack_body=may_lack_body,
        query=query,
        outage="settlement_unavailable" if takes_seats else "registry_unavailable",
        crash="settlement_unavailable" if takes_seats else None,
    )
