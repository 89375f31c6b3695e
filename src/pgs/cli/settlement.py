"""`pgs settlement …`: charges and payouts that settlement has not decided."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import typer
from rich.console import Console, RenderableType
from rich.table import Table

from pgs.cli.errors import REFUSED, printing, stop
from pgs.cli.options import PIPED_WIDTH, ConfigFile, DataDir, Json, Yes, ask, make_sure, show
from pgs.cli.tables import cell, moment, money
from pgs.cli.widths import print_whole
from pgs.operator.commands import settlement as c
from pgs.operator.open_items import UNSET
from pgs.operator.settlement_records import Asked, OpenItem, Resolved

settlement = typer.Typer(
    no_args_is_help=True, help="Charges and payouts that settlement has not decided."
)

ItemId = Annotated[
    str, typer.Argument(metavar="ID", help="The seat of a charge, or MATCH:SEAT of a payout.")
]


@settlement.command("list")
def list_open(as_json: Json = False, config: ConfigFile = None, data: DataDir = None) -> None:
    """List the open charges, then the open payouts, each from the oldest on."""
    unreached: dict[str, str] = {}
    pages = _pages(config, data, unreached)
    first = next(pages)  # read before anything is printed, since reading may fail
    with printing():
        if as_json:
            _print_json(first, pages)
        else:
            _print_tables(first, pages)
    if unreached:
        error = next(iter(unreached.values()))
        names = ", ".join(unreached)
        raise stop(
            "every open item is listed, but these nodes did not say how often settlement was asked "
            f"for theirs ({names}). The first error is: {error}",
            REFUSED,
        )


@settlement.command("retry")
def retry(
    item_id: Annotated[
        str | None,
        typer.Argument(
            metavar="[ID]",
            help="The seat of a charge, or MATCH:SEAT of a payout; without it, all that are open.",
        ),
    ] = None,
    as_json: Json = False,
    config: ConfigFile = None,
    data: DataDir = None,
) -> None:
    """Ask settlement now about open charges and payouts. Nothing is ever charged or paid twice."""
    asked = ask(c.SETTLEMENT_RETRY, c.Item(item_id), config, data)
    show(asked, _asked, as_json=as_json)
    if asked.unreached:
        error = next(iter(asked.unreached.values()))
        names = ", ".join(asked.unreached)
        raise stop(f"these nodes did not ask again ({names}). The first error is: {error}", REFUSED)


@settlement.command("resolve")
def resolve(
    item_id: ItemId,
    decision: Annotated[
        Literal["confirmed", "declined"],
        typer.Argument(metavar="confirmed|declined", help="What settlement's own books say."),
    ],
    yes: Yes = False,
    as_json: Json = False,
    config: ConfigFile = None,
    data: DataDir = None,
) -> None:
    """Decide an open charge or payout in settlement's place. The decision is final.

    First look it up in settlement's own books. A payout can only be confirmed.
    """
    make_sure(
        f"Settlement is not asked: {item_id} is recorded as {decision}, which cannot be undone.",
        yes=yes,
        as_json=as_json,
    )
    show(
        ask(c.SETTLEMENT_RESOLVE, c.Decision(item_id, decision), config, data),
        _resolved,
        as_json=as_json,
    )


def _pages(
    config: Path | None, data: Path | None, unreached: dict[str, str]
) -> Iterator[list[OpenItem]]:
    """Yield the list page by page, so that a long list never has to fit into memory.

    The nodes that did not report their items are added to `unreached`, each with the reason.
    """
    after: str | None = ""
    while after is not None:
        page = ask(c.SETTLEMENT_LIST, c.ItemsAfter(after, c.PAGE), config, data)
        unreached.update(page.unreached)
        yield page.items
        after = page.next_after


def _print_json(first: list[OpenItem], pages: Iterator[list[OpenItem]]) -> None:
    """Print one JSON list, an item a line."""
    sys.stdout.flush()
    out, between = sys.stdout.buffer, b"[\n"
    for items in _chain(first, pages):
        for item in items:
            out.write(between + msgspec.json.encode(item))
            between = b",\n"
    out.write(b"[]\n" if between == b"[\n" else b"\n]\n")
    out.flush()


def _print_tables(first: list[OpenItem], pages: Iterator[list[OpenItem]]) -> None:
    """Print a table for each page, and then the number of items in all."""
    console = Console()
    console.width = console.width if console.is_terminal else PIPED_WIDTH
    count = 0
    for items in _chain(first, pages):
        count += len(items)
        if items:
            print_whole(console, _table(items))
    console.print(f"Open: {count}")


def _chain(first: list[OpenItem], pages: Iterator[list[OpenItem]]) -> Iterator[list[OpenItem]]:
    yield first
    yield from pages


def _table(items: list[OpenItem]) -> RenderableType:
    columns = ("Kind", "Id", "Partner", "Amount", "Since", "Tries", "Last answer")
    drawn = Table(*columns, header_style="bold")
    for item in items:
        last = f"{item.last_answer}, {moment(item.last_at)}" if item.last_answer else "–"
        cells = (
            item.kind,
            item.id,
            f"{item.partner_id} {item.environment}",
            money(item.amount_usd_cents),
            moment(item.since),
            "?" if item.tries is None else str(item.tries),
            f"{last} ({item.why})" if item.why else last,
        )
        drawn.add_row(*(cell(text) for text in cells))
    return drawn


def _asked(asked: Asked) -> RenderableType:
    unset = f" Not asked for {asked.unset}: {UNSET}." if asked.unset else ""
    busy = f" Not asked for {asked.busy}: their partner is busy. Try again." if asked.busy else ""
    outcome = f" {asked.outcome}" if asked.outcome else ""
    return cell(f"Asked for: {asked.asked}.{unset}{busy}{outcome}")


def _resolved(resolved: Resolved) -> RenderableType:
    return cell(f"{resolved.kind} {resolved.id}: {resolved.decision}, now {resolved.status}")
