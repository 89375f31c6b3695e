"""`match.…`: single matches."""

from pgs.actors.core import Core
from pgs.actors.messages import seats as m
from pgs.domain.errors import BadRequest, Refusal, refuse
from pgs.domain.matches import MatchWithSeats
from pgs.domain.shards import shard_of
from pgs.operator.accounts import find_anywhere, nowhere
from pgs.operator.command import Args, Id, OperatorCommand
from pgs.operator.records import MatchVoided, Refund
from pgs.storage.seats import find_match


class MatchId(Args, frozen=True):
    """The match that a command is about."""

    match_id: Id


async def _of_match(core: Core, args: MatchId) -> int | None:
    match = await find_anywhere(core, find_match, args.match_id)
    return None if match is None else shard_of(match.partner_id)


async def void_match(core: Core, args: MatchId) -> MatchVoided | Refusal | BadRequest:
    """End a match as no contest: both stakes are refunded."""
    match = await find_anywhere(core, find_match, args.match_id)
    if match is None:
        return refuse("match_not_found").saying(nowhere("match", args.match_id))
    seats = core.directory.partner(match.partner_id).seats(match.environment)
    reply = await seats.ask(m.DecideMatch(args.match_id, "no_contest", None, "platform_void"))
    if not isinstance(reply, MatchWithSeats):
        return reply
    refunds = [Refund(seat.player_id, seat.stake_usd_cents) for seat in reply.seats]
    return MatchVoided.of(reply.match, refunds=refunds)


MATCH_VOID = OperatorCommand(
    "match.void", MatchId, MatchVoided, void_match, moves_money=True, about=_of_match
)

COMMANDS = (MATCH_VOID,)
