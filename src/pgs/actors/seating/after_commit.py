"""Telling others of a committed plan: tables, activity subscribers, feed readers, the courier."""

from pgs.actors.activity_events import tell_of_play
from pgs.actors.messages.courier import Nudge
from pgs.actors.messages.table import LookAgain
from pgs.actors.partners import PartnerActors
from pgs.actors.seating.plan import Plan
from pgs.actors.shared.presence import player_of
from pgs.actors.waiting_seats import tell_of_seat_soon
from pgs.domain.environments import Environment
from pgs.domain.matches import Match


def tell_of_plan(partner: PartnerActors, environment: Environment, plan: Plan) -> None:
    """Tell tables, activity subscribers, feed readers and the courier of a committed plan."""
    parts, partner_id = partner.parts, partner.partner_id
    here = parts.presence.is_anybody_here(partner_id)
    if plan.matches:
        tell_tables(partner, plan, here=here)
    if here:
        tell_players(partner, plan)
    tell_of_play(parts, partner_id, environment, plan.seats, plan.matches)
    if plan.moves_feed:
        parts.bells.ring(partner_id, environment)
        nudge(partner, environment, plan)


def tell_tables(partner: PartnerActors, plan: Plan, *, here: bool) -> None:
    """Tell the open tables of matches that have ended, and the tables of new matches.

    The table of a new match is opened only if a player of the match has an open socket. `here`:
    whether any player of the partner has one.
    """
    for match in plan.matches:
        if match.status == "started":
            is_needed = here and _has_present_player(partner, plan, match)
            table = partner.table(match.match_id) if is_needed else None
        else:
            table = partner.open_table(match.match_id) if match.money == "due" else None
        if table is not None:
            table.tell(LookAgain(started=match.status == "started"))


def tell_players(partner: PartnerActors, plan: Plan) -> None:
    """Tell the players of changed seats which of their seats waits now."""
    for player in dict.fromkeys(player_of(seat) for seat in plan.seats):
        tell_of_seat_soon(partner.parts, partner.parts.presence.find(player))


def nudge(partner: PartnerActors, environment: Environment, plan: Plan) -> None:
    """Tell the courier about all matches with a changed seat, once for each match.

    A partner whose account or webhook is off gets no nudges.
    """
    account = partner.parts.registry.account(partner.partner_id)
    if account is None or not account.active or environment not in account.webhook_on:
        return
    courier = partner.courier(environment)
    for match_id in dict.fromkeys(seat.match_id for seat in plan.seats):
        if match_id is not None:
            courier.tell(Nudge(match_id))


def _has_present_player(partner: PartnerActors, plan: Plan, match: Match) -> bool:
    find = partner.parts.presence.find
    return any(find(player_of(seat)) for seat in plan.seats if seat.match_id == match.match_id)
