"""How every actor handles a message: a table of handlers, and one more try after a conflict."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, ClassVar

from pgs.actors.kernel.mail import Crashed, Envelope, Message

Handler = Callable[[Any, Any, Envelope], Awaitable[object]]
"""Takes the actor, the message and its envelope; returns the reply or `LATER`."""


class Stale(Exception):
    """The transaction conflicted: something else has written the rows since this actor read them.

    A handler raises it before it has changed anything in memory. The actor then loads its rows
    again and handles the same message once more.
    """


class UnknownMessage(TypeError):
    """The actor has no handler for a message of this type. This is a bug of the sender."""


class DispatchingActor(ABC):
    """An actor whose `HANDLERS` table names the handler of each type of message."""

    HANDLERS: ClassVar[Mapping[type[Message], Handler]]

    @abstractmethod
    async def load(self) -> None:
        """Read the actor's state from rows."""

    async def receive(self, message: Message, envelope: Envelope) -> object:
        """Return the handler's reply; after a conflict, the reply of its second try.

        Raises `UnknownMessage`, what the handler raises, and `Crashed` when the second try
        conflicts as well.
        """
        handler = self.HANDLERS.get(type(message))
        if handler is None:
            raise UnknownMessage(f"{type(self).__name__} cannot handle {type(message).__name__}")
        try:
            return await handler(self, message, envelope)
        except Stale:
            await self.load()
        try:
            return await handler(self, message, envelope)
        except Stale as error:
            raise Crashed("the rows changed again during the second try") from error
