"""How every module of the admin API declares its calls."""

from typing import Final, Literal

import msgspec

from pgs.http.api.endpoint import Endpoint, Handler

PREFIX: Final = "/partner/admin/"

LIST_QUERY: Final = frozenset({"cursor", "limit"})


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
        handler=handler,
        response=response,
        summary=summary,
        credential="identity",
        query=query,
        errors=errors,
    )


def admin_list(
    path: str, handler: Handler, response: type[msgspec.Struct], summary: str
) -> Endpoint:
    """Return a `GET` that answers a page of a list, by `cursor` and `limit`."""
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
) -> Endpoint:
    """Return a write of the admin API. `path` is what follows `/partner/admin/`.

    `errors` are the refusals of this call. `partner_changed` is added, since every write can get
    it.
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
    )
