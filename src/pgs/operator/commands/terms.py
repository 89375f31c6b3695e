"""`terms.…`: the rake terms on offer, and a partner's agreement to them."""

from pgs.actors.core import Core
from pgs.actors.messages import catalogue as m
from pgs.actors.messages.account.settings import EndTerms
from pgs.domain.errors import BadRequest, Refusal
from pgs.domain.members import PLATFORM
from pgs.operator.accounts import change_account
from pgs.operator.command import Args, OperatorCommand
from pgs.operator.commands.partner import PartnerId
from pgs.operator.forwarding import of_partner, of_platform
from pgs.operator.records import PartnerRecord, TermsPublished


class NewTerms(Args, frozen=True):
    """The whole text of new rake terms."""

    text: str


async def publish_terms(core: Core, args: NewTerms) -> TermsPublished | BadRequest:
    """Offer new rake terms. Agreements to older versions stay in force."""
    reply = await core.directory.catalogue().ask(m.PublishTerms(args.text))
    return TermsPublished(reply.version) if isinstance(reply, m.TermsPublished) else reply


async def end_terms(core: Core, args: PartnerId) -> PartnerRecord | Refusal | BadRequest:
    """End a partner's agreement to its rake terms.

    The partner takes no new seats until it agrees to the terms on offer. Its running matches are
    played and paid.
    """
    return await change_account(core, args.partner_id, EndTerms(PLATFORM))


TERMS_PUBLISH = OperatorCommand(
    "terms.publish",
    NewTerms,
    TermsPublished,
    publish_terms,
    starts_a_folder=True,
    about=of_platform,
)
TERMS_END = OperatorCommand("terms.end", PartnerId, PartnerRecord, end_terms, about=of_partner)

COMMANDS = (TERMS_PUBLISH, TERMS_END)
