"""The API version in which a call with a key is answered."""

import re
from collections.abc import Mapping
from typing import Final

import msgspec

from pgs.domain.errors import Refusal, refuse


class Rename(msgspec.Struct, frozen=True):
    """A field that a version names differently from the version before.

    `kind`: the type of the record that has the field. `old` and `new`: the names in the version
    before and in this version, as on the wire.
    """

    kind: type
    old: str
    new: str


class Notice(msgspec.Struct, frozen=True):
    """The notice that a version will end. Times in epoch seconds.

    `starts_at`: when answers begin to carry the notice. `ends_at`: the earliest time of the end.
    """

    starts_at: int
    ends_at: int


class ServedVersions(msgspec.Struct, frozen=True):
    """The versions that this build serves.

    `current`: the version in which a call without a valid key is answered, and the pin of a new
    account. `renames`: by version, the fields that it names differently from the version before.
    `notices`: by version, the notice of its end, if it has been given.
    """

    served: frozenset[int]
    current: int
    renames: Mapping[int, tuple[Rename, ...]] = {}
    notices: Mapping[int, Notice] = {}


VERSIONS: Final = ServedVersions(frozenset({1}), 1)

# No version has more than nine digits. A longer number is refused before it is converted.
_NUMBER = re.compile(rb"[1-9][0-9]{0,8}")


def choose(
    header: bytes | str | None, pin: int, versions: ServedVersions = VERSIONS
) -> int | Refusal:
    """Return the version in which to answer: the header's or, if there is no header, the pin.

    `header` is the raw value of `X-Service-Api-Version`. Anything but an ASCII integer that names a
    served version is refused with `unsupported_api_version`. The response then states the pin.
    """
    if header is None:
        return pin
    if isinstance(header, str):
        header = header.encode("utf-8", "surrogatepass")
    if _NUMBER.fullmatch(header) is not None and (named := int(header)) in versions.served:
        return named
    served = ", ".join(str(number) for number in sorted(versions.served))
    return refuse("unsupported_api_version").saying(
        f"The service does not serve this version. Name a served one ({served}) in "
        "`X-Service-Api-Version`, or leave the header out."
    )
