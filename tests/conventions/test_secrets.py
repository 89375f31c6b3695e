"""No struct, dataclass or named tuple shows a secret when it is printed or logged."""

import dataclasses
import re
import sys
from importlib import import_module
from pkgutil import walk_packages
from typing import Any, Final, get_type_hints

import msgspec
import pytest
from rich.pretty import pretty_repr

import pgs

SECRET: Final = "the-secret-itself"

SECRET_NAME: Final = re.compile(
    r"(^|_)(token|secret|secrets|password|sealed|code|authorization)$"
    r"|(^|_)(api|test|live|private|signing)_key$"
    r"|^otpauth_uri$"
)
"""Names of fields that hold a secret."""

KEY_TEXT: Final = re.compile(r"key", re.IGNORECASE)
"""Names of classes whose field `text` holds a key."""

UNIMPORTABLE: Final = {"pgs.__main__", "pgs.games.chess"}
"""Importing the first would run the command line; the second needs an optional package."""

ALSO_SECRET: Final = {
    ("pgs.http.api.endpoint.CallBy", "body"),
    ("pgs.http.api.endpoint.CallBy", "headers"),
    ("pgs.http.api.endpoint.Request", "headers"),
    ("pgs.http.transport.heads.Head", "headers"),
}
"""Fields that hold what a client sent, which may include credentials."""


def structs() -> list[type]:
    """Return every struct, dataclass and named tuple that is defined in the package."""
    for module in walk_packages(pgs.__path__, "pgs."):
        if module.name not in UNIMPORTABLE:
            import_module(module.name)
    found = {
        kind
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] == "pgs"
        for kind in vars(module).values()
        if isinstance(kind, type) and kind.__module__.partition(".")[0] == "pgs"
        if fields_of(kind)
    }
    return sorted(found, key=name_of)


def name_of(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def fields_of(kind: type) -> tuple[str, ...]:
    """Return the field names of a struct, dataclass or named tuple; none for other classes."""
    if issubclass(kind, msgspec.Struct):
        return kind.__struct_fields__
    if dataclasses.is_dataclass(kind):
        return tuple(field.name for field in dataclasses.fields(kind))
    if issubclass(kind, tuple):
        return tuple(getattr(kind, "_fields", ()))
    return ()


def secrets_of(kind: type) -> set[str]:
    """Return the names of the fields that hold a secret as text, as bytes or in a container."""
    named = {
        name
        for name in fields_of(kind)
        if SECRET_NAME.search(name)
        or (name == "text" and KEY_TEXT.search(kind.__name__))
        or (name_of(kind), name) in ALSO_SECRET
    }
    if not named:
        return named
    hints = get_type_hints(kind)
    return {
        name
        for name in named
        if re.search(r"\b(str|bytes|Any|object|Headers|list)\b", str(hints[name]))
    }


def holding(kind: type, secrets: set[str]) -> Any:
    """Return an instance with `SECRET` in its secret fields and None in the others."""
    values = {name: SECRET if name in secrets else None for name in fields_of(kind)}
    try:
        return kind(**values)
    except (TypeError, ValueError):  # `__post_init__` refused the values, so bypass it
        instance: Any = object.__new__(kind)
    for name, value in values.items():
        msgspec.structs.force_setattr(instance, name, value)
    return instance


SECRETIVE: Final = {
    name_of(kind): (kind, secrets) for kind in structs() if (secrets := secrets_of(kind))
}


@pytest.mark.parametrize("name", SECRETIVE)
def test_neither_repr_nor_rich_shows_a_secret(name: str) -> None:
    kind, secrets = SECRETIVE[name]
    instance = holding(kind, secrets)
    assert SECRET not in repr(instance)
    assert SECRET not in str([instance])
    assert SECRET not in pretty_repr(instance)


def test_structs_with_secrets_are_found() -> None:
    assert {
        "pgs.domain.keyring.RingKey",
        "pgs.http.api.endpoint.Request",
        "pgs.http.partner.sessions.MintedSession",
    } <= SECRETIVE.keys()


def test_every_field_listed_in_also_secret_exists() -> None:
    known = {(name_of(kind), field) for kind in structs() for field in fields_of(kind)}
    assert ALSO_SECRET - known == set()
