"""`GET /game/socket`: the player's WebSocket.

It passes the player's messages to the tables. Tables send their messages straight to the socket.
"""

from typing import Final, assert_never

import msgspec
import structlog
import trio
from msgspec import UNSET

from pgs.actors.kernel.mail import Crashed, Interrupted, NotOwned, Overloaded
from pgs.actors.messages import table as m
from pgs.actors.partners import PartnerActors
from pgs.actors.shared.presence import PlayerSocket, admits
from pgs.actors.waiting_seats import find_standing, send_standing
from pgs.domain import socket_frames as frames
from pgs.domain.errors import ERRORS, Refusal
from pgs.domain.play import ABUSE, EXPIRED, PLAY_STOPPED
from pgs.http.api.endpoint import Plain, Reply
from pgs.http.api.failures import event_behind
from pgs.http.api.responses import body_of
from pgs.http.api.services import Services
from pgs.http.game.auth import Session, admit, token_of
from pgs.http.game.join import check_own
from pgs.http.game.session import Welcome, read_own
from pgs.http.transport.accepted_socket import AcceptedSocket
from pgs.http.transport.asgi import Receive, Scope, Send
from pgs.http.transport.socket_limits import SocketLimits
from pgs.http.transport.sockets import GOING_AWAY, OpenSockets, refuse_handshake, serve_socket
from pgs.storage.seats import find_match
from pgs.storage.transactions import StoreOutage, WriterFull

PROTOCOL: Final = "pgs.game.v1"
LIMITS: Final = SocketLimits(abuse_code=ABUSE)
"""Limits of the game socket: the defaults, with the Game API's close code for a breach."""


OWN_MAX: Final = 256
"""Matches of its player that a socket remembers. Beyond that number it forgets all of them, and
looks each one up again."""

log = structlog.get_logger("pgs.http")
_decoder: msgspec.json.Decoder[frames.FromClient] = msgspec.json.Decoder(frames.FromClient)


async def game_socket(
    services: Services, sockets: OpenSockets, scope: Scope, receive: Receive, send: Send
) -> None:
    """Serve one `websocket` scope: refuse the handshake, or serve the socket until it closes."""
    offered = scope.get("subprotocols", ())
    verdict: msgspec.Struct = await admit(services, token_of(scope["headers"], offered))
    headers: tuple[tuple[bytes, bytes], ...] = ()
    if isinstance(verdict, Reply):
        headers, verdict = verdict.headers, verdict.body
    if isinstance(verdict, Session):
        socket_handler = SocketHandler(services, verdict)
        await serve_socket(
            scope,
            receive,
            send,
            # A client that authenticates by header may leave subprotocols out altogether.
            subprotocol=PROTOCOL if offered else None,
            handler=socket_handler.run,
            limits=LIMITS,
            sockets=sockets,
        )
    elif isinstance(verdict, Refusal):
        services.parts.on_event(f"refused_{verdict.reason}")
        kind = ERRORS[verdict.reason]
        body = body_of(verdict, services.base_url)
        await refuse_handshake(send, kind.elsewhere or kind.status, body, list(headers))
    elif isinstance(verdict, Plain):
        services.parts.on_event("refused_plain")
        await refuse_handshake(
            send, verdict.status, {"error": verdict.message}, [(b"www-authenticate", b"Bearer")]
        )


class NotJson(Exception):
    """A message that is not valid JSON."""


class SocketHandler:
    """Serves one open socket of a player: reads its messages, acts on them, and answers."""

    def __init__(self, services: Services, session: Session) -> None:
        self._services = services
        self._parts = services.parts
        self._session = session
        self._player_id = session.claims.player_id
        self._own: set[str] = set()  # ids of matches that are known to be the player's

    async def run(self, socket: AcceptedSocket) -> None:
        """Serve the socket until the token expires, the service closes it, or this is cancelled."""
        claims, parts = self._session.claims, self._parts
        player_socket = PlayerSocket(
            self._session.player, claims.generation, claims.display_name, socket
        )
        account = parts.registry.account(claims.partner_id)
        if account is None or not admits(account, player_socket):
            # The account changed during the handshake.
            socket.close(PLAY_STOPPED)
            return
        if not self._services.is_here(claims.partner_id):  # another node owns the partner by now
            socket.close(GOING_AWAY)
            return
        parts.presence.enter(player_socket)
        try:
            with trio.move_on_after(max(0.0, claims.expires_at - parts.clock.real_ms() / 1000)):
                await self._converse(socket, player_socket)
            socket.close(EXPIRED)
        finally:
            if parts.presence.leave(player_socket):
                self._tell_tables(player_socket.tables)

    async def _converse(self, socket: AcceptedSocket, player_socket: PlayerSocket) -> None:
        try:
            socket.send(frames.encode(Welcome(**await read_own(self._services, self._session))))
        except StoreOutage:
            log.exception("read_failed", partner_id=self._session.partner_id)
            socket.send(frames.encode(frames.ErrorFrame("registry_unavailable")))
        while True:
            text = await socket.receive()
            try:
                message = _read(text)
            except NotJson:
                socket.close(ABUSE)
                return
            if isinstance(message, frames.Ping):
                socket.send(frames.encode(frames.Pong(message.id)))
                continue
            if not self._services.is_here(self._session.partner_id):
                socket.close(GOING_AWAY)
                return
            reason = (
                "bad_message" if message is None else await self._guarded(message, player_socket)
            )
            if reason is not None:
                match_id = UNSET if message is None else message.match_id
                socket.send(frames.encode(frames.ErrorFrame(reason, match_id or UNSET)))

    async def _guarded(
        self, message: frames.Join | frames.MakeMove | frames.GiveUp, player_socket: PlayerSocket
    ) -> str | None:
        """Return why a message was refused, or None.

        An outage of the service is a refusal too: the socket stays open, and the player can retry.
        """
        try:
            if isinstance(message, frames.Join):
                return await self._join(message.match_id or None, player_socket)
            return await self._act(message, player_socket)
        except NotOwned:
            player_socket.connection.close(GOING_AWAY)
            return None
        except (Overloaded, WriterFull):
            self._parts.on_event("overloaded")
            return "rate_limited"
        except (Crashed, StoreOutage) as error:
            event = "read_failed" if isinstance(error, StoreOutage) else "handler_crashed"
            counted = event_behind(error) if isinstance(error, Interrupted) else event
            if counted is not None:
                self._parts.on_event(counted)
            log.error(
                "socket_message_failed", partner_id=self._session.partner_id, error=str(error)
            )
            return "registry_unavailable"

    async def _join(self, match_id: str | None, player_socket: PlayerSocket) -> str | None:
        if match_id is None:
            player_socket.follows_seats = True
            standing = await find_standing(self._parts, self._session.player)
            if standing.match_id is None:
                send_standing(player_socket, standing.frame)
                return None
            match_id = standing.match_id
        fault = await self._check_own(match_id)
        if fault is not None:
            return fault
        reply = await self._partner.table(match_id).ask(
            m.JoinTable(self._player_id, player_socket.name, player_socket)
        )
        if isinstance(reply, Refusal):
            return reply.reason
        return None

    async def _act(
        self, message: frames.MakeMove | frames.GiveUp, player_socket: PlayerSocket
    ) -> str | None:
        fault = await self._check_own(message.match_id)
        if fault is not None:
            return fault
        joined = message.match_id in player_socket.joined
        if not joined and await self._runs(message.match_id):
            # The first action in a match also joins it on this socket, so that the match's messages
            # come here. The player may have joined elsewhere, for example by HTTP.
            fault = await self._join(message.match_id, player_socket)
            if fault is not None:
                return fault
        table = self._partner.table(message.match_id)
        if isinstance(message, frames.MakeMove):
            reply = await table.ask(m.PlayMove(self._player_id, message.ply, message.move))
        elif isinstance(message, frames.GiveUp):
            reply = await table.ask(m.Resign(self._player_id))
        else:
            assert_never(message)
        return reply.reason if isinstance(reply, m.ActionRefused) else None

    async def _check_own(self, match_id: str) -> str | None:
        if match_id in self._own:
            return None
        fault = await check_own(self._services, self._session, match_id)
        if fault is not None:
            return fault.reason
        _remember(self._own, match_id)
        return None

    async def _runs(self, match_id: str) -> bool:
        match = await find_match(self._parts.database.reader, self._session.partner_id, match_id)
        return match is not None and match.status == "started"

    @property
    def _partner(self) -> PartnerActors:
        return self._services.directory.partner(self._session.partner_id)

    def _tell_tables(self, match_ids: set[str]) -> None:
        partner = self._services.directory.owned(self._session.partner_id)
        if partner is None:
            return
        for match_id in sorted(match_ids):
            partner.table(match_id).tell(m.LookAgain())


def _remember(matches: set[str], match_id: str) -> None:
    if len(matches) >= OWN_MAX:
        matches.clear()
    matches.add(match_id)


def _read(text: str) -> frames.FromClient | None:
    """Return a client's message, or None if the JSON is not a message. Raises `NotJson`."""
    try:
        return _decoder.decode(text)
    except (msgspec.ValidationError, RecursionError):
        pass
    except msgspec.DecodeError as error:
        raise NotJson from error
    try:
        # The typed decoder stops at the first mismatch, so the rest of the text may not be JSON.
        msgspec.json.decode(text)
    except RecursionError:
        pass
    except msgspec.DecodeError as error:
        raise NotJson from error
    return None
