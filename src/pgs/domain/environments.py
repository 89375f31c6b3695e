"""The two environments, `test` and `live`, in which a partner's play is kept apart."""

from typing import Literal, TypeGuard

Environment = Literal["test", "live"]

ENVIRONMENTS: tuple[Environment, ...] = ("test", "live")


def is_environment(text: object) -> TypeGuard[Environment]:
    """Return whether `text` names an environment, spelled exactly."""
    return text == "test" or text == "live"
