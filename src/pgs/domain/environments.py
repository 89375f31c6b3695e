"""The two environments, `test` and `live`: a partner's test play never mixes with its live play."""

from typing import Literal, TypeGuard

Environment = Literal["test", "live"]

ENVIRONMENTS: tuple[Environment, ...] = ("test", "live")


def is_environment(text: object) -> TypeGuard[Environment]:
    """Return whether `text` names an environment, spelled exactly."""
    return text == "test" or text == "live"
