"""`pgs tier …`, `terms …`, `match …` and `ledger …`: what belongs to the platform."""

from pathlib import Path
from typing import Annotated

import typer

from pgs.actors.catalogue_actor import TERMS_MAX
from pgs.cli import platform_tables, tables
from pgs.cli.errors import REFUSED, WRONG_CALL, expected, stop
from pgs.cli.options import (
    ConfigFile,
    DataDir,
    Json,
    Yes,
    ask,
    make_sure,
    show,
    whole_cents,
)
from pgs.domain.environments import Environment
from pgs.operator.command import NoArgs
from pgs.operator.commands.ledger import LEDGER_CHECK
from pgs.operator.commands.match import MATCH_VOID, MatchId
from pgs.operator.commands.partner import PartnerId
from pgs.operator.commands.terms import TERMS_END, TERMS_PUBLISH, NewTerms
from pgs.operator.commands.tier import (
    TIER_LIST,
    TIER_LOCK,
    TIER_SET,
    TIER_UNLOCK,
    TierNumbers,
    TierOfGame,
)

tier = typer.Typer(no_args_is_help=True, help="Tiers: what a seat costs and what its match pays.")
terms = typer.Typer(no_args_is_help=True, help="Publish rake terms, and end agreements.")
match = typer.Typer(no_args_is_help=True, help="End running matches.")
ledger = typer.Typer(no_args_is_help=True, help="Check the ledger of all money.")

TierId = Annotated[str, typer.Argument(metavar="ID", help="The tier's id.")]
InEnvironment = Annotated[
    Environment, typer.Option("--environment", help="The environment that the tier belongs to.")
]
ForGame = Annotated[str, typer.Option("--game", metavar="GAME", help="The game's id.")]


@tier.command("set")
def set_tier(
    tier_id: TierId,
    environment: InEnvironment,
    floor: Annotated[
        int,
        typer.Option(
            metavar="CENTS", parser=whole_cents, help="The least stake, in whole US cents."
        ),
    ],
    prize: Annotated[
        int,
        typer.Option(
            metavar="CENTS", parser=whole_cents, help="What the winner receives, in whole US cents."
        ),
    ],
    name: Annotated[
        str | None,
        typer.Option(
            help="The name shown for the tier. Without it, a tier keeps its name, and a new tier "
            "is named after its id."
        ),
    ] = None,
    as_json: Json = False,
    config: ConfigFile = None,
    data: DataDir = None,
) -> None:
    """Create a tier, or give it new numbers. Seats that are taken keep the old ones."""
    show(
        ask(TIER_SET, TierNumbers(environment, tier_id, floor, prize, name), config, data),
        platform_tables.tier_set,
        as_json=as_json,
    )


@tier.command("lock")
def lock(
    tier_id: TierId,
    environment: InEnvironment,
    game: ForGame,
    yes: Yes = False,
    as_json: Json = False,
    config: ConfigFile = None,
    data: DataDir = None,
) -> None:
    """Lock a tier for a game: it takes no new seats there. Seats that are taken play on."""
    make_sure(
        f"After this, {tier_id} takes no new {environment} seats at {game}, of any partner.",
        yes=yes,
        as_json=as_json,
    )
    show(
        ask(TIER_LOCK, TierOfGame(environment, tier_id, game), config, data),
        platform_tables.tier,
        as_json=as_json,
    )


@tier.command("unlock")
def unlock(
    tier_id: TierId,
    environment: InEnvironment,
    game: ForGame,
    as_json: Json = False,
    config: ConfigFile = None,
    data: DataDir = None,
) -> None:
    """Unlock a tier for a game."""
    show(
        ask(TIER_UNLOCK, TierOfGame(environment, tier_id, game), config, data),
        platform_tables.tier,
        as_json=as_json,
    )


@tier.command("list")
def list_tiers(as_json: Json = False, config: ConfigFile = None, data: DataDir = None) -> None:
    """List every tier of both environments."""
    show(ask(TIER_LIST, NoArgs(), config, data).tiers, platform_tables.tiers, as_json=as_json)


@terms.callback()
def rake_terms() -> None:
    """Publish rake terms, and end agreements."""


@terms.command("publish")
def publish(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            exists=True,
            dir_okay=False,
            readable=True,
            help="The whole text, in UTF-8.",
        ),
    ],
    as_json: Json = False,
    config: ConfigFile = None,
    data: DataDir = None,
) -> None:
    """Offer new rake terms. Agreements to older versions stay in force."""
    with expected(), file.open("rb") as opened:
        raw = opened.read(TERMS_MAX * 4 + 1)  # UTF-8 takes at most four bytes a character
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise stop(
            f"{file} is not UTF-8 text, or is over {TERMS_MAX} characters", WRONG_CALL
        ) from None
    show(ask(TERMS_PUBLISH, NewTerms(text), config, data), tables.terms, as_json=as_json)


@terms.command("end")
def end(
    partner_id: Annotated[str, typer.Argument(metavar="PARTNER", help="The partner's id.")],
    yes: Yes = False,
    as_json: Json = False,
    config: ConfigFile = None,
    data: DataDir = None,
) -> None:
    """End a partner's agreement. The partner takes no seats until it agrees to the terms on offer.

    The partner's running matches are played and paid.
    """
    make_sure(
        f"After this, {partner_id} takes no new seats until it agrees to the terms on offer.",
        yes=yes,
        as_json=as_json,
    )
    show(ask(TERMS_END, PartnerId(partner_id), config, data), tables.partner, as_json=as_json)


@match.callback()
def matches() -> None:
    """End running matches."""


@match.command("void")
def void(
    match_id: Annotated[str, typer.Argument(metavar="ID", help="The match's id.")],
    yes: Yes = False,
    as_json: Json = False,
    config: ConfigFile = None,
    data: DataDir = None,
) -> None:
    """End a running match as no contest: both stakes are refunded."""
    make_sure(
        f"This ends match {match_id} without a winner and refunds both stakes. It cannot be "
        "taken back.",
        yes=yes,
        as_json=as_json,
    )
    show(
        ask(MATCH_VOID, MatchId(match_id), config, data),
        platform_tables.match_voided,
        as_json=as_json,
    )


@ledger.callback()
def the_ledger() -> None:
    """Check the ledger of all money."""


@ledger.command("check")
def check_ledger(as_json: Json = False, config: ConfigFile = None, data: DataDir = None) -> None:
    """Check every row of the ledger, and what must agree with it. Exit code 1 for a fault."""
    report = ask(LEDGER_CHECK, NoArgs(), config, data)
    show(report, tables.ledger, as_json=as_json)
    if not report.sound:
        raise stop(
            "the ledger is not sound. Stop the service, keep a copy of the data folder (or of the "
            "database in PostgreSQL), and find the cause before play continues.",
            REFUSED,
        )
