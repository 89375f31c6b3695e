"""An operator command as data: its name, its function, the types of its arguments and result."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Generic, TypeVar

import msgspec
from msgspec import Meta

from pgs.actors.core import Core
from pgs.domain.errors import BadRequest, Refusal
from pgs.operator.records import Record

A = TypeVar("A", bound="Args")
R = TypeVar("R", bound=Record)

# These bounds only refuse absurd requests. The actors check the actual rules.
Id = Annotated[str, Meta(max_length=64)]
Text = Annotated[str, Meta(max_length=320)]


class Args(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The base of every command's arguments. Unknown fields are refused."""


class NoArgs(Args, frozen=True):
    """The arguments of a command that takes none."""


class OperatorCommand(msgspec.Struct, Generic[A, R], frozen=True):
    """One command.

    `about` returns the shard of what the command is about. In an installation of several nodes, the
    owner of that shard carries the command out. Without `about`, or if it returns None, the node
    that is asked carries the command out. `about` returns None if the arguments name something that
    does not exist, and for a command about everything, such as `settlement.retry` without an item.
    `starts_a_folder`: it may run on a folder without a database, and then creates one.
    `moves_money`: payouts may follow, so `pgs` waits for them if no service runs.
    """

    name: str
    args: type[A]
    result: type[R]
    run: Callable[[Core, A], Awaitable[R | Refusal | BadRequest]]
    about: Callable[[Core, A], Awaitable[int | None]] | None = None
    starts_a_folder: bool = False
    moves_money: bool = False
