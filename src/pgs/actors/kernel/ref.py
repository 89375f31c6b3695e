"""The address of an actor, through which others send it messages."""

from __future__ import annotations

from math import inf
from typing import Protocol, TypeVar

from pgs.actors.kernel.mail import Command, Crashed, Envelope, Message, NotOwned, Overloaded
from pgs.actors.kernel.system import System

R = TypeVar("R")

TELL_RESERVE = 4096
"""Messages without a reply that a mailbox takes beyond MAILBOX_LIMIT, because a message that finds
no room is lost."""

ASK_DEADLINE_S = 5.0
"""Seconds that an ask may wait in a mailbox. After that it is answered as overloaded with nothing
done, since its caller will soon give up."""


class Mailbox(Protocol):
    """Takes an actor's messages."""

    name: str
    system: System

    def post(self, envelope: Envelope, within: float = inf, reserve: int = 0) -> None:
        """Queue a message, which may wait for `within` seconds.

        There is room for `reserve` messages beyond the mailbox's limit.
        """
        ...


class Ref:
    """Sends messages to one actor. Get a new `Ref` for each message; do not keep one."""

    __slots__ = ("_mailbox",)

    def __init__(self, mailbox: Mailbox) -> None:
        self._mailbox = mailbox

    async def ask(self, command: Command[R], within: float = ASK_DEADLINE_S) -> R:
        """Return the actor's reply to `command`.

        `within`: seconds that the command may wait in the queue. Raises `Overloaded` or `Degraded`
        when nothing was done, and `Crashed` when it is unknown what was done.
        """
        envelope = Envelope(command)
        self._mailbox.post(envelope, within)
        reply: R = await envelope.wait()
        return reply

    def tell(self, message: Message) -> bool:
        """Send a message without waiting; return whether it was queued.

        A message that was not queued is lost: only the rows show the change that it reported. The
        loss is logged, unless the partner now belongs to another node.
        """
        try:
            self._mailbox.post(Envelope(message, is_ask=False), reserve=TELL_RESERVE)
        except NotOwned:  # the owner finds the change in the rows
            return False
        except (Overloaded, Crashed) as error:
            self._mailbox.system.report(
                "message_dropped",
                actor=self._mailbox.name,
                message=type(message).__name__,
                why=str(error),
            )
            return False
        return True
