"""`pgs`: the root of the command line, with `serve` and `demo`."""

from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from pgs.cli import database, doctor, invoices, keyring, nodes, partners, platform, settlement
from pgs.cli.errors import expected
from pgs.cli.options import ConfigFile, DataDir, settings
from pgs.demo import BOTS_MAX

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="The Partner Game Service. Most commands use the running service, or its data folder "
    "while no service runs.",
)
app.add_typer(partners.partner, name="partner")
app.add_typer(partners.game, name="game")
app.add_typer(platform.tier, name="tier")
app.add_typer(platform.terms, name="terms")
app.add_typer(platform.match, name="match")
app.add_typer(settlement.settlement, name="settlement")
app.add_typer(platform.ledger, name="ledger")
app.add_typer(invoices.invoice, name="invoice")
app.add_typer(database.db, name="db")
app.add_typer(keyring.keyring, name="keyring")
app.add_typer(nodes.node, name="node")
app.command("doctor")(doctor.doctor)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pgs {version('pgs')}")
        raise typer.Exit


@app.callback()
def pgs(
    _: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and end."
        ),
    ] = False,
) -> None:
    """Handle the options that stand before a command."""


@app.command("serve")
def serve(config: ConfigFile = None, data: DataDir = None) -> None:
    """Run the service until SIGINT or SIGTERM.

    It listens on PGS_LISTEN and PGS_INTERNAL_LISTEN; docs/operations.md has every setting.
    """
    with expected():
        loaded = settings(config, data)
        # Imported here: this module imports many others, which most commands do not need.
        from pgs.process import run

        code = run(loaded)
    raise typer.Exit(code)


@app.command("demo")
def demo(
    data: Annotated[
        Path | None,
        typer.Option(
            "--data", metavar="DIR", help="The folder for its data; by default demo-data."
        ),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="End after the demonstration.")] = False,
    port: Annotated[
        int | None,
        typer.Option("--port", min=0, max=65535, help="The service's port; 0 takes a free one."),
    ] = None,
    bots: Annotated[
        bool,
        typer.Option("--bots", help="Let bots play one match after another over the Game API."),
    ] = False,
    number: Annotated[
        int | None,
        typer.Argument(
            metavar="[N]",
            min=1,
            max=BOTS_MAX,
            help="With --bots: how many bots. They play in pairs; of an odd number, one plays you.",
        ),
    ] = None,
) -> None:
    """Run the whole service on this machine, with nothing to configure.

    `pgs demo --bots` starts two bots that play each other. With `--bots 1`, one bot plays you on
    the partner's page. With `--bots 5`, there are two pairs, and one bot plays you.
    """
    if number is not None and not bots:
        raise typer.BadParameter("a number needs --bots", param_hint="N")
    if bots and once:
        raise typer.BadParameter("--once ends before the bots would play", param_hint="--bots")
    with expected():
        from pgs.demo.demo import FOLDER, PORT, run

        code = run(
            data or FOLDER,
            once=once,
            port=PORT if port is None else port,
            bots=(number or 2) if bots else 0,
        )
    raise typer.Exit(code)
