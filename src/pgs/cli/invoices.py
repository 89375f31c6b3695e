"""`pgs invoice …`: assembling, showing, paying and voiding invoices."""

from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.progress import Progress

from pgs.cli import tables
from pgs.cli.errors import REFUSED, stop
from pgs.cli.options import ConfigFile, DataDir, Json, ask, show
from pgs.domain.days import parse_month
from pgs.domain.environments import Environment
from pgs.domain.plurals import counted
from pgs.operator.commands import invoice as c
from pgs.operator.invoice_records import InvoiceSummary, InvoiceWithLines, MissedInvoice

invoice = typer.Typer(no_args_is_help=True, help="Assemble, show, pay and void invoices.")


def _is_month(text: str) -> str:
    if parse_month(text) is None:
        raise typer.BadParameter(f"{text!r} is no month; write it like 202611")
    return text


InvoiceId = Annotated[str, typer.Argument(metavar="ID", help="The invoice's id.")]


@invoice.command("assemble")
def assemble(
    month: Annotated[
        str, typer.Option(metavar="YYYYMM", help="The month to bill.", callback=_is_month)
    ],
    as_json: Json = False,
    config: ConfigFile = None,
    data: DataDir = None,
) -> None:
    """Assemble the invoices of a month. They are drafts until all of its days are final.

    The service does this by itself once a month is over.
    """
    found: list[InvoiceSummary] = []
    missed: list[MissedInvoice] = []
    after: tuple[str, Environment] | None = None
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("Partners", total=None)
        while True:
            page = ask(c.INVOICE_ASSEMBLE, c.Month(month, after), config, data)
            found += page.invoices
            missed += page.missed
            progress.update(task, advance=page.partners)
            after = page.next_after
            if after is None:
                break
    show(found, tables.invoices, as_json=as_json)
    if missed:
        partners = ", ".join(sorted({one.partner_id for one in missed}))
        raise stop(
            f"{counted(len(missed), 'invoice was', 'invoices were')} not assembled, of {partners}. "
            "The first error is: "
            f"{missed[0].error} Remove its cause, then repeat the command.",
            REFUSED,
        )


@invoice.command("list")
def list_all(
    partner: Annotated[
        str, typer.Option(metavar="PARTNER", help="The invoices of this partner only.")
    ] = "",
    status: Annotated[
        Literal["all", "draft", "open", "paid", "void"],
        typer.Option(help="The invoices with this status only."),
    ] = "all",
    as_json: Json = False,
    config: ConfigFile = None,
    data: DataDir = None,
) -> None:
    """List invoices by partner and environment, the oldest of each pair first."""
    found: list[InvoiceSummary] = []
    after: tuple[str, Environment, int] | None = None
    while True:
        wanted = c.InvoicesAfter(partner, "" if status == "all" else status, after)
        page = ask(c.INVOICE_LIST, wanted, config, data)
        found += page.invoices
        after = page.next_after
        if after is None:
            break
    show(found, tables.invoices, as_json=as_json)


@invoice.command("show")
def show_one(
    invoice_id: InvoiceId, as_json: Json = False, config: ConfigFile = None, data: DataDir = None
) -> None:
    """Show an invoice with its lines."""
    page = ask(c.INVOICE_SHOW, c.LinesAfter(invoice_id), config, data)
    lines = list(page.lines)
    while page.next_after is not None:
        page = ask(c.INVOICE_SHOW, c.LinesAfter(invoice_id, page.next_after), config, data)
        lines += page.lines
    show(InvoiceWithLines(page.invoice, lines), tables.invoice_with_lines, as_json=as_json)


@invoice.command("pay")
def pay(
    invoice_id: InvoiceId, as_json: Json = False, config: ConfigFile = None, data: DataDir = None
) -> None:
    """Record that an open invoice was paid."""
    show(ask(c.INVOICE_PAY, c.InvoiceId(invoice_id), config, data), tables.invoice, as_json=as_json)


@invoice.command("void")
def void(
    invoice_id: InvoiceId, as_json: Json = False, config: ConfigFile = None, data: DataDir = None
) -> None:
    """Declare an open invoice void. The next invoice bills the same rake."""
    show(
        ask(c.INVOICE_VOID, c.InvoiceId(invoice_id), config, data), tables.invoice, as_json=as_json
    )
