"""The interfaces to the outside: partners' endpoints, players' money, and the other nodes."""

from collections.abc import Mapping
from typing import Literal, Protocol

from pgs.domain.nudges import TryOutcome
from pgs.domain.payouts import Payout
from pgs.domain.seats import Seat
from pgs.domain.shards import Node

ChargeAnswer = Literal["confirmed", "pending", "declined"]


class NudgePort(Protocol):
    """Posts nudges to partners' endpoints."""

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> TryOutcome:
        """Return the outcome of one try. An endpoint cannot make it raise."""
        ...

    def close_idle(self) -> None:
        """Close connections that no try has used for a while.

        If a try waits for a new connection to an endpoint, close all idle ones to that endpoint.
        """
        ...

    def close(self) -> None:
        """Close all idle connections now, and each connection in use when its try ends."""
        ...


class UndefinedAnswer(Exception):
    """The settlement server gave no answer that its interface defines.

    The text is the reason, for the log. It repeats nothing that the server sent, except the status
    code.
    """


class SettlementPort(Protocol):
    """Holds the players' money.

    Every call may be repeated: a seat is still charged and paid only once.
    """

    instant: bool  # True: every charge is confirmed at once, without a call

    async def charge(self, seat: Seat) -> ChargeAnswer:
        """Return settlement's answer about a seat's stake. Raises `UndefinedAnswer`."""
        ...

    async def pay(self, match_id: str, payout: Payout) -> ChargeAnswer:
        """Return settlement's answer about a payout. Raises `UndefinedAnswer`."""
        ...


class NodeNotReached(Exception):
    """The other node has not carried the command out, and will not. The text says why."""


class NodeAnswerLost(Exception):
    """No answer came from the other node. It may have carried the command out."""


class NodesPort(Protocol):
    """Sends operators' commands to the other nodes of the installation."""

    async def carry_out(self, node: Node, line: bytes) -> bytes:
        """Return a node's answer to a command that it must carry out itself.

        Raises `NodeNotReached` and `NodeAnswerLost`.
        """
        ...
