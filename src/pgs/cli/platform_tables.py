"""Tiers, voided matches and invites as tables and lines for the terminal."""

from rich.console import Group, RenderableType
from rich.table import Table

from pgs.cli.tables import add_row, cell, link_of_invite, money, new_table
from pgs.domain.plurals import counted
from pgs.operator import records as r

_TIER_COLUMNS = ("Environment", "Id", "Name", "Floor", "Prize", "Revision", "Locked for")


def tier(record: r.TierRecord) -> RenderableType:
    """Draw one tier."""
    table = new_table("Tier", *_TIER_COLUMNS)
    _tier_row(table, record)
    return table


def tier_set(record: r.TierRecord) -> RenderableType:
    """Draw a tier that was set, with a warning if its prize is so high that it takes no seats."""
    if not record.pays_in:
        return tier(record)
    most = 2 * record.floor_usd_cents
    warning = (
        f"This tier takes no seats: its prize of {counted(record.prize_usd_cents, 'cent')} is more "
        f"than the stakes of two seats at the floor, {counted(most, 'cent')}, so the platform "
        f"would pay in. Set a prize of at most {most}, or a floor of at least "
        f"{-(-record.prize_usd_cents // 2)}."
    )
    return Group(tier(record), cell(warning))


def _tier_row(table: Table, tier: r.TierRecord) -> None:
    locked = (
        "every game: the prize is over two floors"
        if tier.pays_in
        else ", ".join(tier.locked_games) or "–"
    )
    add_row(
        table,
        tier.environment,
        tier.tier_id,
        tier.name,
        money(tier.floor_usd_cents),
        money(tier.prize_usd_cents),
        tier.revision,
        locked,
    )


def tiers(listed: list[r.TierRecord]) -> RenderableType:
    """Draw a list of tiers."""
    table = new_table(f"Tiers: {len(listed)}", *_TIER_COLUMNS)
    for tier in listed:
        _tier_row(table, tier)
    return table


def match_voided(match: r.MatchVoided) -> RenderableType:
    """Draw a match after it was voided."""
    refunds = " and ".join(
        f"{refund.player_id} gets back {counted(refund.amount_usd_cents, 'cent')}"
        for refund in match.refunds
    )
    return Group(
        cell(
            f"Match {match.match_id} of {match.partner_id} ({match.environment}): "
            f"{match.status}, {match.end_reason or '–'}"
        ),
        cell(
            f"What follows: {refunds}. The partner's feed shows the end now, and the money once "
            "settlement has confirmed it; until then `pgs settlement list` shows the refunds."
        ),
    )


def invited(invite: r.InviteMade) -> RenderableType:
    """Draw a new invite."""
    what = "id" if invite.invite_url is None else "link"
    return Group(
        cell(
            f"Invite {invite.invite_id} for {invite.email}, as {invite.role} of "
            f"{invite.partner_id}. Pass the {what} on: no e-mail is sent. It expires after 7 days."
        ),
        *link_of_invite(invite.invite_url),
    )
