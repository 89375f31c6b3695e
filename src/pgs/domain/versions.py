"""Which API version answers a key-authenticated call."""

import re
from typing import Final

import msgspec

from pgs.domain.errors import Refusal, refuse


class ServedVersions(msgspec.Struct, frozen=True):
    """The versions that this build serves. `current` stamps whatever is answered without a known account."""

    served: frozenset[int]
    current: int


VERSIONS: Final = ServedVersions(frozenset({1}), 1)

# Nine digits outlast any version; a longer number names nothing, and is refused before anyone converts it.
_NUMBER = re.compile(rb"[1-9][0-9]{0,8}")


def choose(
    header: bytes | str | None, pin: int, versions: ServedVersions = VERSIONS
) -> int | Refusal:
    """Return the version to answer on: the pin where no header was sent, else the served version that the header names.

    `header` is the raw value of `X-Service-Api-Version`. Whatever is no bare integer in ASCII, or names a version that is not
    served, is `unsupported_api_version`; the caller stamps that answer with the pin.
    """
    if header is None:
        return pin
    if isinstance(header, str):
        header = header.encode("utf-8", "surrogatepass")
    if _NUMBER.fullmatch(header) is not None and (named := int(header)) in versions.served:
        return named
    return refuse("unsupported_api_version")
