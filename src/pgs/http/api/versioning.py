"""Converts bodies and answers between API versions, and makes the headers of a version that ends.

Handlers receive and return records with the names of the oldest served version. Each rename of a
later version is a row of `ServedVersions.renames`. This module applies it to bodies and to answers.
docs/decisions/0017-versions.md explains the decision.
"""

from collections.abc import Mapping
from email.utils import formatdate

import msgspec
from msgspec import UNSET

from pgs.domain.errors import BadRequest
from pgs.domain.versions import Notice, ServedVersions

Names = Mapping[type, Mapping[str, str]]
"""For each type of record, a mapping of its renamed fields: from the name in the oldest version to
the new name."""


def names_in(version: int, versions: ServedVersions) -> Names:
    """Return the fields that a version names differently from the oldest version."""
    found: dict[type, dict[str, str]] = {}
    for number in sorted(versions.renames):
        if number <= version:
            for rename in versions.renames[number]:
                _add(found.setdefault(rename.kind, {}), rename.old, rename.new)
    return found


def _add(names: dict[str, str], old: str, new: str) -> None:
    """Add a rename under the oldest name of its field, which may have been renamed before."""
    first = next((name for name, now in names.items() if now == old), old)
    names[first] = new


def in_version(record: object, version: int, versions: ServedVersions) -> object:
    """Return a record as a version shows it."""
    names = names_in(version, versions) if versions.renames else {}
    return _renamed(record, names) if names else record


def _renamed(value: object, names: Names) -> object:
    if isinstance(value, msgspec.Struct):
        own = names.get(type(value), {})
        return {
            own.get(field.encode_name, field.encode_name): _renamed(inner, names)
            for field in msgspec.structs.fields(value)
            if (inner := getattr(value, field.name)) is not UNSET
        }
    if isinstance(value, dict):
        return {name: _renamed(inner, names) for name, inner in value.items()}
    return [_renamed(inner, names) for inner in value] if isinstance(value, list | tuple) else value


def from_version(
    body: dict[str, object], kind: type, version: int, versions: ServedVersions
) -> BadRequest | None:
    """Rename a body's fields from the names of a version to the names of the oldest version.

    A renamed field counts only under the name that it has in `version`. If the body has the field
    only under its oldest name, the field is removed: `version` does not know that name, and unknown
    fields are ignored. If the body has the field under both names, return a refusal.
    """
    names = names_in(version, versions).get(kind, {}) if versions.renames else {}
    for old, new in names.items():
        if old in body and new in body:
            return BadRequest(f"Field `{new}` is also given under its former name.")
        body.pop(old, None)
        if new in body:
            body[old] = body.pop(new)
    return None


def ending(
    version: int, versions: ServedVersions, now: int, base_url: str
) -> tuple[tuple[bytes, bytes], ...]:
    """Return the headers that tell when a version ends; none if no end is announced.

    RFC 9745 defines `Deprecation`, RFC 8594 `Sunset`.
    """
    notice: Notice | None = versions.notices.get(version)
    if notice is None or now < notice.starts_at:
        return ()
    link = f'<{base_url}/docs/changelog>; rel="deprecation"; type="text/html"'
    return (
        (b"deprecation", b"@%d" % notice.starts_at),
        (b"sunset", formatdate(notice.ends_at, usegmt=True).encode()),
        (b"link", link.encode()),
    )
