"""Secrets that are shown once: how they are made, and how structs keep them out of logs."""

from typing import Any, ClassVar, Final

from pgs.domain import base64url

WEBHOOK_SECRET_BYTES: Final = 32
"""Bytes of randomness in a webhook's signing secret: as many as HMAC-SHA256 produces."""

SIGNING_MARK: Final = "whsec_"
"""How every signing secret of a webhook begins."""

HIDDEN: Final = "<hidden>"
"""What a repr shows in place of a secret."""


class HidesSecrets:
    """A mixin for structs whose `repr` must not show every field.

    `SECRETS` names the fields that are shown as `<hidden>`. Put the mixin before the struct:
    `class KeyMinted(HidesSecrets, msgspec.Struct, frozen=True)`. Encoding is not affected.
    """

    __slots__ = ()

    SECRETS: ClassVar[frozenset[str]] = frozenset()

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{name}={HIDDEN if name in self.SECRETS else repr(value)}"
            for name, value in self.__rich_repr__()
        )
        return f"{type(self).__name__}({shown})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        # Rich, which prints tracebacks, prefers `__rich_repr__` to `__repr__`. msgspec's own
        # `__rich_repr__` would show every field. Every class with this mixin is a struct, so it has
        # the attribute below.
        names: tuple[str, ...] = self.__struct_fields__  # type: ignore[attr-defined]
        return [(name, HIDDEN if name in self.SECRETS else getattr(self, name)) for name in names]


def webhook_secret(entropy: bytes) -> str:
    """Return `SIGNING_MARK` and 43 base64url characters.

    The HMAC key is this whole text in UTF-8. `entropy` is exactly `WEBHOOK_SECRET_BYTES` random
    bytes (else ValueError).
    """
    if len(entropy) != WEBHOOK_SECRET_BYTES:
        raise ValueError(f"a webhook secret takes {WEBHOOK_SECRET_BYTES} bytes")
    return f"{SIGNING_MARK}{base64url.encode(entropy)}"
