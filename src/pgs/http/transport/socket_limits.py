"""The limits of a WebSocket: how many messages a client may send, and how many may wait.

`pgs.http.transport.accepted_socket` closes a socket whose client breaks one.
"""

import msgspec


class SocketLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of one socket.

    A message that is too long or binary closes the socket with `abuse_code`, and so does a message
    beyond `messages_per_second`. A full queue closes it with
    `accepted_socket.OVERLOADED`.
    """

    abuse_code: int
    """The close code for a client that does not keep to the protocol."""

    message_bytes: int = 16 * 1024
    """Bytes of one message from a client: more than a hundred times as many as a move takes."""

    messages_per_second: int = 20
    """Messages from a client in any second. The next one closes the socket. Nobody plays this
    fast."""

    inbox_messages: int = 100
    """Messages from a client that wait for the handler: five seconds at full rate, as long as an
    ask to an actor may take."""

    inbox_chars: int = 64 * 1024
    """Characters of all messages that wait for the handler: four messages of the greatest size."""

    outbox_messages: int = 64
    """Messages to a client that wait to be written. A game sends one for each move, so a client
    this far behind is not reading."""

    outbox_chars: int = 256 * 1024
    """Characters of all messages that wait to be written (bytes, in the lane): 4,096 for each
    message. Only two kinds are longer, about 20,000 at most: a snapshot with the moves of a long
    match, and the first message to a player with a hundred running matches."""

    flush_s: float = 2.0
    """Seconds for queued messages to be sent before a close frame. Less than the grace period of a
    stop, so that the frame is sent within it."""

    drain_s: float = 1.0
    """Seconds for the handler to take what a client sent just before it left, so that a last move
    counts."""
