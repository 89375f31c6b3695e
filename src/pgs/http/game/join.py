"""`POST /game/matches/{match_id}/join`: take part in a match without a socket."""

from pgs.actors.messages.table import JoinTable
from pgs.domain import ids
from pgs.domain.errors import Refusal, refuse
from pgs.domain.socket_frames import Snapshot
from pgs.http.api.endpoint import Answer, Endpoint, Reply
from pgs.http.api.services import Services
from pgs.http.game.auth import Session
from pgs.http.game.session import NOT_STORED, GameCall
from pgs.storage.seats import find_match_with_seats


async def check_own(services: Services, session: Session, match_id: str) -> Refusal | None:
    """Return None if the player has a seat in the match, else the refusal."""
    if not ids.is_id(ids.MATCH, match_id):
        return refuse("match_not_found")
    reader = services.parts.database.reader
    found = await find_match_with_seats(reader, session.partner_id, match_id)
    if found is None:
        return refuse("match_not_found")
    if found.match.environment != session.claims.environment:
        return refuse("cross_environment_join")
    return None if found.has_player(session.claims.player_id) else refuse("match_not_found")


async def join_match(call: GameCall) -> Answer:
    """Record that the player has joined, and return the match as the player sees it."""
    services, session, match_id = call.services, call.principal, call.path["match_id"]
    fault = await check_own(services, session, match_id)
    if fault is not None:
        return fault
    command = JoinTable(session.claims.player_id, session.claims.display_name, None)
    reply = await services.directory.partner(session.partner_id).table(match_id).ask(command)
    return reply if isinstance(reply, Refusal) else Reply(reply, NOT_STORED)


ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/game/matches/{match_id}/join",
        handler=join_match,
        response=Snapshot,
        credential="session",
        errors=(
            "partner_inactive",
            "cross_environment_join",
            "match_not_found",
            "registry_unavailable",
        ),
        crash="registry_unavailable",
        summary="Join a match",
    ),
)
