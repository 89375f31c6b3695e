"""The API version on which a call with a key is answered."""

import re
from typing import Final

import msgspec

from pgs.domain.errors import Refusal, refuse


class ServedVersions(msgspec.Struct, frozen=True):
    """The versions that this build serves. Answers to an unknown caller name the `current` one."""

    served: frozenset[int]
    current: int


VERSIONS: Final = ServedVersions(frozenset({1}), 1)

# No version has more than nine digits. A longer number is refused before it is converted.
_NUMBER = re.compile(rb"[1-9][0-9]{0,8}")


def choose(
    header: bytes | str | None, pin: int, versions: ServedVersions = VERSIONS
) -> int | Refusal:
    """Return the version to answer on: the one that the header names, or the pin without a header.

    `header` is the raw value of `X-Service-Api-Version`. Anything but an ASCII integer that names a
    served version is refused with `unsupported_api_version`; that answer names the pin.
    """
    if header is None:
        return pin
    if isinstance(header, str):
        header = header.encode("utf-8", "surrogatepass")
    if _NUMBER.fullmatch(header) is not None and (named := int(header)) in versions.served:
        return named
    return refuse("unsupported_api_version")
