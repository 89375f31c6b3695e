"""Fields that an answer leaves out."""

from typing import TypeVar

from msgspec import UNSET, UnsetType

T = TypeVar("T")


def or_unset(value: T | None) -> T | UnsetType:
    """Return the value; `UNSET` for None, so that the answer leaves the field out."""
    return UNSET if value is None else value
