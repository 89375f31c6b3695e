"""What an operator's command is, as data: its name, its arguments, its answer and the function that does it."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Generic, TypeVar

import msgspec
from msgspec import Meta

from pgs.actors.core import Core
from pgs.domain.errors import BadRequest, Refusal
from pgs.operator.records import Record

A = TypeVar("A", bound="Args")
R = TypeVar("R", bound=Record)

# Bounds that only keep the absurd out; the rules proper are the actors'.
Id = Annotated[str, Meta(max_length=64)]
Text = Annotated[str, Meta(max_length=320)]


class Args(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A command's arguments."""


class NoArgs(Args, frozen=True):
    """Nothing."""


class OperatorCommand(msgspec.Struct, Generic[A, R], frozen=True):
    """One command. `starts_a_folder`: it makes sense where there is no database yet, and makes one. `moves_money`: payouts follow it."""

    name: str
    args: type[A]
    result: type[R]
    run: Callable[[Core, A], Awaitable[R | Refusal | BadRequest]]
    starts_a_folder: bool = False
    moves_money: bool = False
