"""Commands to the billing actor of a partner and environment, and its reply."""

import msgspec

from pgs.actors.kernel.mail import Command
from pgs.domain.errors import BadRequest, Refusal
from pgs.domain.invoices import Invoice


class Assembled(msgspec.Struct, frozen=True):
    """A month's invoice as it is now. None: the month has nothing to bill."""

    invoice: Invoice | None


class AssembleInvoice(Command[Assembled], frozen=True):
    """Assemble a month's invoice.

    It stays a draft until the month's last day is final. Then it gets its lines and its number, and
    is open. An invoice that is open, paid or void stays as it is.
    """

    month: int


class PayInvoice(Command[Invoice | Refusal | BadRequest], frozen=True):
    """Record that an open invoice was paid."""

    invoice_id: str


class VoidInvoice(Command[Invoice | Refusal | BadRequest], frozen=True):
    """Declare an open invoice void. The next invoice bills what this one billed."""

    invoice_id: str
