"""`pgs`: every command of the command line in its place."""

from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from pgs.cli import partners, platform
from pgs.cli.errors import expected
from pgs.cli.options import ConfigFile, DataDir, settings
from pgs.demo import BOTS_MAX

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="The Partner Game Service. Commands act on the running service, or on its data folder while it is down.",
)
app.add_typer(partners.partner, name="partner")
app.add_typer(partners.game, name="game")
app.add_typer(platform.tier, name="tier")
app.add_typer(platform.terms, name="terms")
app.add_typer(platform.match, name="match")
app.add_typer(platform.ledger, name="ledger")
app.add_typer(platform.db, name="db")
app.add_typer(platform.keyring, name="keyring")


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
    """Take the options that stand before any command."""


@app.command("serve")
def serve(config: ConfigFile = None, data: DataDir = None) -> None:
    """Run the service until SIGINT or SIGTERM.

    It listens where PGS_LISTEN and PGS_INTERNAL_LISTEN say; docs/operations.md has every setting.
    """
    with expected():
        loaded = settings(config, data)
        from pgs.process import run  # most commands need nothing of what it imports

        code = run(loaded)
    raise typer.Exit(code)


@app.command("demo")
def demo(
    data: Annotated[
        Path | None,
        typer.Option(
            "--data", metavar="DIR", help="Where to keep its data; without it, a folder of its own."
        ),
    ] = None,
    once: Annotated[
        bool, typer.Option("--once", help="End after the job, instead of staying up.")
    ] = False,
    port: Annotated[
        int | None,
        typer.Option("--port", min=0, max=65535, help="The service's port; 0 takes a free one."),
    ] = None,
    bots: Annotated[
        bool,
        typer.Option("--bots", help="Let bots play over the real Game API, match after match."),
    ] = False,
    number: Annotated[
        int | None,
        typer.Argument(
            metavar="[N]",
            min=1,
            max=BOTS_MAX,
            help="With --bots: how many. Two play each other; an odd one plays against you.",
        ),
    ] = None,
) -> None:
    """Run everything on this machine with nothing to configure.

    `pgs demo --bots` has two bots that play each other, one game after the other. `--bots 1` has one that takes the second player's side on
    the partner's page. `--bots 5` has two pairs and one that plays against you.
    """
    if number is not None and not bots:
        raise typer.BadParameter("a number goes with --bots", param_hint="N")
    if bots and once:
        raise typer.BadParameter(
            "bots play after the story, where --once ends", param_hint="--bots"
        )
    with expected():
        from pgs.demo.demo import FOLDER, PORT, run

        code = run(
            data or FOLDER,
            once=once,
            port=PORT if port is None else port,
            bots=(number or 2) if bots else 0,
        )
    raise typer.Exit(code)
