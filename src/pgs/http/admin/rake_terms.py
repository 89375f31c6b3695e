"""The rake terms on offer, and the account's agreement to them."""

import msgspec
from msgspec import UNSET, UnsetType

from pgs.actors.messages.account.settings import AgreeTerms
from pgs.http.admin.account import AccountRecord, shown
from pgs.http.admin.authorization import AdminCall, account_now, change
from pgs.http.admin.endpoints import admin_read, admin_write
from pgs.http.api.body import SafeInt
from pgs.http.api.endpoint import Answer
from pgs.http.api.responses import or_unset
from pgs.storage.terms import offered_terms


class TermsRecord(msgspec.Struct, frozen=True, rename="camel"):
    """The terms on offer with their text in Markdown, and the agreed version.

    Fields are absent if no terms are on offer or agreed.
    """

    offered_version: int | UnsetType = UNSET
    text: str | UnsetType = UNSET
    agreed_version: int | UnsetType = UNSET
    agreed_at: int | UnsetType = UNSET


class Agreement(msgspec.Struct, frozen=True):
    """The version of the rake terms to agree to."""

    version: SafeInt


async def read_terms(call: AdminCall) -> Answer:
    """Return the terms on offer and the account's agreement."""
    offered, account = await offered_terms(call.services.parts.database.reader), account_now(call)
    return TermsRecord(
        offered_version=offered.version if offered else UNSET,
        text=offered.text if offered else UNSET,
        agreed_version=UNSET
        if account.agreed_terms_version is None
        else account.agreed_terms_version,
        agreed_at=or_unset(account.agreed_terms_at),
    )


async def agree(call: AdminCall) -> Answer:
    """Agree to the terms on offer."""
    body: Agreement = call.body
    return await shown(call, await change(call, AgreeTerms, body.version))


ENDPOINTS = (
    admin_read("rake-terms", read_terms, TermsRecord, "The rake terms on offer"),
    admin_write(
        "POST",
        "rake-terms",
        agree,
        AccountRecord,
        "Agree to the rake terms",
        request=Agreement,
        errors=("terms_already_agreed", "settlement_unavailable"),
    ),
)
