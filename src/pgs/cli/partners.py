"""`pgs partner …` and `pgs game …`: partners' accounts and their licences for games."""

from typing import Annotated, Literal

import typer

from pgs.cli import platform_tables, tables
from pgs.cli.errors import WRONG_CALL, stop
from pgs.cli.options import ConfigFile, DataDir, Json, Yes, ask, make_sure, show
from pgs.operator.commands import partner as c
from pgs.operator.commands.game import GAME_LICENCE, LicenceStep
from pgs.operator.records import PartnerSummary

partner = typer.Typer(no_args_is_help=True, help="Accounts of partners.")
game = typer.Typer(no_args_is_help=True, help="Licences for games.")

PartnerId = Annotated[str, typer.Argument(metavar="ID", help="The partner's id.")]


@partner.command("create")
def create(
    partner_id: PartnerId,
    name: Annotated[str, typer.Option(help="The name shown for the account.")],
    admin_email: Annotated[str, typer.Option(help="The address of the first admin.")],
    as_json: Json = False,
    config: ConfigFile = None,
    data: DataDir = None,
) -> None:
    """Open an account, and print the invite of its first admin."""
    created = ask(c.PARTNER_CREATE, c.NewPartner(partner_id, name, admin_email), config, data)
    show(created, tables.partner_created, as_json=as_json)


@partner.command("list")
def list_all(as_json: Json = False, config: ConfigFile = None, data: DataDir = None) -> None:
    """List every account."""
    found: list[PartnerSummary] = []
    after: str | None = ""
    while after is not None:
        page = ask(c.PARTNER_LIST, c.PartnersAfter(after), config, data)
        found += page.partners
        after = page.next_after
    show(found, tables.partner_list, as_json=as_json)


@partner.command("show")
def show_one(
    partner_id: PartnerId, as_json: Json = False, config: ConfigFile = None, data: DataDir = None
) -> None:
    """Show an account: games, keys, origins, prices, webhooks."""
    show(
        ask(c.PARTNER_SHOW, c.PartnerId(partner_id), config, data), tables.partner, as_json=as_json
    )


@partner.command("deactivate")
def deactivate(
    partner_id: PartnerId,
    yes: Yes = False,
    as_json: Json = False,
    config: ConfigFile = None,
    data: DataDir = None,
) -> None:
    """Switch an account off. Its waiting seats and running matches end; all stakes are refunded."""
    make_sure(
        f"This ends every waiting seat and running match of {partner_id} and refunds all stakes.",
        yes=yes,
        as_json=as_json,
    )
    show(
        ask(c.PARTNER_DEACTIVATE, c.PartnerId(partner_id), config, data),
        tables.partner_switched_off,
        as_json=as_json,
    )


@partner.command("reactivate")
def reactivate(
    partner_id: PartnerId, as_json: Json = False, config: ConfigFile = None, data: DataDir = None
) -> None:
    """Switch an account on again."""
    show(
        ask(c.PARTNER_REACTIVATE, c.PartnerId(partner_id), config, data),
        tables.partner_switched_on,
        as_json=as_json,
    )


@partner.command("set")
def set_partner(
    partner_id: PartnerId,
    name: Annotated[str | None, typer.Option(help="The name shown for the account.")] = None,
    admin_domain: Annotated[
        str | None,
        typer.Option(help="The domain of admins' addresses; an empty text removes it."),
    ] = None,
    burst: Annotated[int | None, typer.Option(help="Requests in a burst.")] = None,
    rate: Annotated[int | None, typer.Option(help="Requests a second.")] = None,
    as_json: Json = False,
    config: ConfigFile = None,
    data: DataDir = None,
) -> None:
    """Set an account's rate limit, name and admin domain."""
    if (name, admin_domain, burst, rate) == (None, None, None, None):
        raise stop("nothing to set: name --burst, --rate, --name or --admin-domain", WRONG_CALL)
    show(
        ask(
            c.PARTNER_SET,
            c.PartnerSettings(partner_id, burst, rate, name, admin_domain),
            config,
            data,
        ),
        tables.partner,
        as_json=as_json,
    )


@partner.command("invite")
def invite(
    partner_id: PartnerId,
    email: Annotated[str, typer.Option(help="The address of the person to invite.")],
    role: Annotated[
        Literal["admin", "developer", "viewer"], typer.Option(help="What the person may do.")
    ] = "admin",
    as_json: Json = False,
    config: ConfigFile = None,
    data: DataDir = None,
) -> None:
    """Invite a further member, for example if the first admin's address was mistyped."""
    show(
        ask(c.PARTNER_INVITE, c.NewInvite(partner_id, email, role), config, data),
        platform_tables.invited,
        as_json=as_json,
    )


@partner.command("reset-authenticator")
def reset_authenticator(
    partner_id: PartnerId,
    uid: Annotated[
        str,
        typer.Argument(
            metavar="UID", help="The member's user id: the `sub` of their identity tokens."
        ),
    ],
    yes: Yes = False,
    as_json: Json = False,
    config: ConfigFile = None,
    data: DataDir = None,
) -> None:
    """Remove a member's lost authenticator. First verify that the request is from this member."""
    make_sure(
        f"This removes the authenticator of {uid}, who can make no sensitive change until they "
        "enrol a new one.",
        yes=yes,
        as_json=as_json,
    )
    show(
        ask(c.PARTNER_RESET_AUTHENTICATOR, c.MemberOf(partner_id, uid), config, data),
        tables.authenticator_reset,
        as_json=as_json,
    )


@game.callback()
def games() -> None:
    """Licences for games."""


@game.command("licence")
def licence(
    partner_id: Annotated[str, typer.Argument(metavar="PARTNER", help="The partner's id.")],
    game_id: Annotated[str, typer.Argument(metavar="GAME", help="The game's id.")],
    step: Annotated[
        Literal["grant", "deny", "withdraw"],
        typer.Argument(metavar="grant|deny|withdraw", help="The decision about live access."),
    ],
    note: Annotated[str | None, typer.Option(help="A note that the partner sees.")] = None,
    yes: Yes = False,
    as_json: Json = False,
    config: ConfigFile = None,
    data: DataDir = None,
) -> None:
    """Grant or deny a partner's request for live access to a game, or withdraw what was granted."""
    if step == "withdraw":
        make_sure(
            f"After this, {partner_id} takes no new live seats at {game_id}; running matches are "
            "played.",
            yes=yes,
            as_json=as_json,
        )
    show(
        ask(GAME_LICENCE, LicenceStep(partner_id, game_id, step, note), config, data),
        tables.partner,
        as_json=as_json,
    )
