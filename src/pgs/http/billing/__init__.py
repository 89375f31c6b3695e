"""Usage, seat summary, the digest of the feed, and invoices.

API keys and members can read all of these, except that only API keys can read the digest.
"""

from typing import Any

import msgspec

from pgs.http.account.callers import Reads, by_key, by_query
from pgs.http.admin.endpoints import LIST_QUERY, admin_read
from pgs.http.api.day_ranges import RANGE_ERRORS, RANGE_QUERY
from pgs.http.api.endpoint import Endpoint
from pgs.http.billing import digest, seat_summary, usage
from pgs.http.billing.invoices import (
    InvoicePage,
    InvoiceRecord,
    LinePage,
    MatchPage,
    list_invoices,
    list_lines,
    list_matches,
    read_invoice,
)


def _twins(
    path: str,
    read: Reads,
    response: type[msgspec.Struct],
    summary: str,
    *,
    query: frozenset[str] = frozenset(),
    errors: tuple[str, ...],
) -> tuple[Endpoint, Endpoint]:
    """Return the endpoints of one read: for API keys, and for members.

    During an outage both answer `settlement_unavailable`.
    """
    common: dict[str, Any] = {"outage": "settlement_unavailable"}
    by_member = admin_read(
        path,
        by_query(read),
        response,
        summary,
        query=query | {"environment"},
        errors=tuple(dict.fromkeys(("missing_parameter", *errors, "settlement_unavailable"))),
    )
    return (
        Endpoint(
            method="GET",
            path=f"/partner/{path}",
            handler=by_key(read),
            response=response,
            summary=summary,
            query=query,
            errors=(*errors, "settlement_unavailable"),
            **common,
        ),
        msgspec.structs.replace(by_member, **common),
    )


_OF_ONE = ("invoice_not_found", "invoice_not_readable")

ENDPOINTS: tuple[Endpoint, ...] = (
    *usage.ENDPOINTS,
    *seat_summary.ENDPOINTS,
    *digest.ENDPOINTS,
    *_twins(
        "invoices",
        list_invoices,
        InvoicePage,
        "The invoices",
        query=LIST_QUERY | RANGE_QUERY | {"status"},
        errors=(*RANGE_ERRORS, "invoice_status_invalid", "invalid_cursor"),
    ),
    *_twins("invoices/{invoice_id}", read_invoice, InvoiceRecord, "An invoice", errors=_OF_ONE),
    *_twins(
        "invoices/{invoice_id}/lines",
        list_lines,
        LinePage,
        "The lines of an invoice",
        query=LIST_QUERY,
        errors=(*_OF_ONE, "invalid_cursor"),
    ),
    *_twins(
        "invoices/{invoice_id}/lines/{line_id}/matches",
        list_matches,
        MatchPage,
        "The matches that a line of an invoice bills",
        query=LIST_QUERY,
        errors=(*_OF_ONE, "invalid_cursor"),
    ),
)
