"""What the tables of a partner's matches hear of a decision: where a match has ended, and where one has begun whose player is here."""

from pgs.actors.messages.table import LookAgain
from pgs.actors.partners import PartnerActors
from pgs.actors.seating.plan import Plan


def tell_tables(partner: PartnerActors, plan: Plan) -> None:
    """Tell the tables that a committed plan concerns. A match that nobody has come to has no table, and gets none."""
    find = partner.parts.presence.find
    for match in plan.matches:
        if match.status == "started":
            seats = [seat for seat in plan.seats if seat.match_id == match.match_id]
            here = any(find((seat.partner_id, seat.environment, seat.player_id)) for seat in seats)
            table = partner.table(match.match_id) if here else None
        else:
            table = partner.open_table(match.match_id) if match.money == "due" else None
        if table is not None:
            table.tell(LookAgain())
