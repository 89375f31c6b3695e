"""The settings: read from a TOML file, then from environment variables, and checked."""

import dataclasses
import os
import re
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Final

import typed_settings
from typed_settings.exceptions import TsError

from pgs.domain.environments import Environment, is_environment
from pgs.domain.service_urls import parse_service_url

KEY_FILE_NAME = "keys"  # the key ring's file, in the data folder and in its backups
PREFIX: Final = "PGS_"
TABLE: Final = "pgs"

# Variables with our prefix that are not settings: the place of the settings file, and the key and
# the signing secret that the examples read.
_OTHER_VARIABLES = frozenset({"PGS_CONFIG", "PGS_KEY", "PGS_WEBHOOK_SECRET"})

_POSTGRES = ("postgresql://", "postgres://")

_SHOWN = 40
"""Characters that a message quotes of a setting of the wrong type: enough to recognise it, and few
even if the setting is as long as a file."""

_NODE_NAME = re.compile(r"[a-z0-9-]{1,32}", re.ASCII)

_ORIGIN = re.compile(r"https?://(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::([0-9]{1,5}))?")


class BadSettings(Exception):
    """A setting has a wrong value; the message names the setting and says what it may be."""


@dataclasses.dataclass(frozen=True)
class Config:
    """How this process runs.

    Each field is `PGS_<NAME>` in the environment, and its lower-case name under `[pgs]` in the
    file. The environment overrides the file.
    """

    listen: str = "127.0.0.1:8000"
    """Address of the public listener, host:port; port 0 takes a free one.

    It is on loopback by default, because a proxy with TLS belongs in front of it.
    """

    internal_listen: str = "127.0.0.1:8001"
    """Address of the listener for health, readiness and metrics. Nobody outside may reach it."""

    data_dir: Path = Path("pgs-data")
    """The data folder: database, key ring, operator socket. One process owns it at a time."""

    database_url: str = dataclasses.field(default="", repr=False)
    """Address of the PostgreSQL server that keeps the database, as `postgresql://user@host/name`.

    Empty: SQLite, in the data folder. The address may hold a password.
    """

    node_name: str = ""
    """This node's name among several: 1 to 32 of a-z, 0-9 and -. Empty: there is only this one."""

    node_address: str = ""
    """host:port at which the other nodes reach this node's public listener."""

    base_url: str = ""
    """URL at which partners and players reach the service, without a trailing slash.

    Empty: the public listener's own address.
    """

    secret_key_file: Path | None = None
    """The key ring's file; by default `keys` in the data folder. Made on the first start."""

    restrict_environment: str = ""
    """`test` or `live`: the one environment of this deployment; empty: both."""

    process_rate: int = 20_000
    """Admitted calls a second of the whole process, with a burst of one second.

    One process cannot serve as many as the default allows: the default only bounds an overload.
    """

    lane: str = "on"
    """`on` or `off`: whether plain requests to the endpoints take the short way past hypercorn.

    The answers are the same either way. Set it to off to find out whether a fault is in the short
    way.
    """

    log_level: str = "info"
    """The least severe level that is logged: debug, info, warning or error.

    Requests are logged at info.
    """

    identity_issuer: str = ""
    """The OpenID Connect issuer whose tokens admins sign in with, spelled as in the tokens.

    Empty: nobody can sign in.
    """

    identity_audience: str = ""
    """The audience that the issuer's tokens must name; empty: `identity_client_id`."""

    identity_jwks_url: str = ""
    """Where the issuer publishes its keys; empty: where its discovery document says."""

    identity_client_id: str = ""
    """The portal's client id at the issuer."""

    frame_url: str = ""
    """The URL of the frame's document; empty: the document in the package."""

    settlement_url: str = ""
    """The settlement server that holds the stakes of new seats; empty: the embedded settlement.

    Seats keep the settlement under which they were taken.
    """

    settlement_token_file: Path | None = None
    """A file with the token for the settlement server, read at the start."""

    @property
    def key_file(self) -> Path:
        """Where the key ring is kept."""
        return self.secret_key_file or self.data_dir / KEY_FILE_NAME

    @property
    def restricted_to(self) -> Environment | None:
        """The one environment of this deployment, if it has one."""
        return self.restrict_environment if is_environment(self.restrict_environment) else None

    @property
    def token_audience(self) -> str:
        """The audience that identity tokens must name; empty without an issuer."""
        return self.identity_audience or self.identity_client_id


LANE = ("on", "off")
LOG_LEVELS = ("debug", "info", "warning", "error")


def load_config(file: Path | None = None, environ: Mapping[str, str] = os.environ) -> Config:
    """Return the settings of `file`, else of the file that `PGS_CONFIG` names.

    `PGS_…` variables override the file. An unknown name is refused in either place, because the
    operator expects it to have an effect. Raises `BadSettings`.
    """
    path = file or (Path(environ["PGS_CONFIG"]) if environ.get("PGS_CONFIG") else None)
    variables = _from_environment(environ)
    loaders: list[typed_settings.Loader] = []
    if path is not None:
        _check_file(path)
        loaders.append(typed_settings.FileLoader({"*": typed_settings.TomlFormat(TABLE)}, [path]))
    loaders.append(typed_settings.loaders.DictLoader(variables))
    try:
        config = typed_settings.load_settings(Config, loaders)
    except TsError as error:
        raise BadSettings(str(error)) from error
    return check_config(config)


def _from_environment(environ: Mapping[str, str]) -> dict[str, str]:
    named = {
        name: text
        for name, text in environ.items()
        if name.startswith(PREFIX) and name not in _OTHER_VARIABLES
    }
    values = {}
    for name, text in sorted(named.items()):
        field = name.removeprefix(PREFIX).lower()
        known = name == _variable(field)  # false for PGS_Listen, for example
        _check_known(
            field if known else "", name, get_close_matches(name, map(_variable, _KINDS), n=1)
        )
        if _check_kind(field, text):
            values[field] = text
    return values


def _check_file(path: Path) -> None:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadSettings(f"there is no settings file {path}") from None
    except OSError as error:
        raise BadSettings(f"the settings file {path} cannot be read: {error.strerror}") from None
    except ValueError as error:  # bad TOML or bad UTF-8
        raise BadSettings(f"the settings file {path} is not valid TOML: {error}") from None
    table = content.pop(TABLE, None)
    if not isinstance(table, dict):
        raise BadSettings(
            f"the settings file {path} has no table [{TABLE}], which settings belong in"
        )
    if content:
        raise BadSettings(
            f"{next(iter(content))} stands outside the table [{TABLE}] of {path}, "
            "where nothing reads it"
        )
    for name, value in table.items():
        _check_known(name, f"{name} in {path}", get_close_matches(name, _KINDS, n=1))
        if not _check_kind(name, value):
            raise BadSettings(f"{name} in {path} must not be empty: leave it out")


def _check_known(field: str, name: str, near: list[str]) -> None:
    if field not in _KINDS:
        hint = f"is {near[0]} meant?" if near else "docs/operations.md lists them all"
        raise BadSettings(f"{name} is no setting; {hint}")


def _check_kind(field: str, value: object) -> bool:
    """Return False for an empty optional path, which names no file. Raises `BadSettings`."""
    name, kind = _variable(field), _KINDS[field]
    if kind is int:
        number = isinstance(value, int) and not isinstance(value, bool)
        if not (
            number
            or (isinstance(value, str) and re.fullmatch(r"[+-]?[0-9]{1,18}", value, re.ASCII))
        ):
            raise BadSettings(f"{name} must be a whole number, not {str(value)[:_SHOWN]}")
        return True
    if not isinstance(value, str):
        raise BadSettings(f"{name} must be a text, not {str(value)[:_SHOWN]}")
    if kind is Path and not value:
        raise BadSettings(f"{name} must not be empty")
    return bool(value) or kind is str


def _variable(field: str) -> str:
    return f"{PREFIX}{field.upper()}"


# The declared type of each field. A file that may be left out has the type `Path | None`.
_KINDS: Final[Mapping[str, object]] = {
    field.name: field.type for field in dataclasses.fields(Config)
}


def check_config(config: Config) -> Config:
    """Return the settings if all of them are valid, else raise `BadSettings`."""
    if config.restrict_environment and config.restricted_to is None:
        raise BadSettings("PGS_RESTRICT_ENVIRONMENT must be test or live, or be left out")
    for name, address in (
        ("PGS_LISTEN", config.listen),
        ("PGS_INTERNAL_LISTEN", config.internal_listen),
    ):
        if _port_of(address) is None:
            raise BadSettings(
                f"{name} must be host:port with a port from 0 to 65535, "
                f"such as 127.0.0.1:8000, not {address}"
            )
    if config.database_url and not config.database_url.startswith(_POSTGRES):
        raise BadSettings("PGS_DATABASE_URL must begin with postgresql://, or be left out")
    if config.process_rate < 1:
        raise BadSettings("PGS_PROCESS_RATE must be at least 1")
    if config.lane not in LANE:
        raise BadSettings("PGS_LANE must be on or off")
    if config.log_level not in LOG_LEVELS:
        raise BadSettings(f"PGS_LOG_LEVEL must be one of {', '.join(LOG_LEVELS)}")
    if config.base_url and not _is_origin(config.base_url):
        raise BadSettings(
            "PGS_BASE_URL must be http://host or https://host, with a port if need be, "
            "and nothing after it"
        )
    if config.frame_url and parse_service_url(config.frame_url) is None:
        raise BadSettings("PGS_FRAME_URL must be an https address, or http on this machine")
    _check_node(config)
    _check_identity(config)
    _check_settlement(config)
    return config


def _port_of(address: str) -> int | None:
    host, _, port = address.rpartition(":")
    is_number = port.isascii() and port.isdecimal() and int(port[:6]) <= 65535
    return int(port) if host and is_number else None


def _check_node(config: Config) -> None:
    if config.node_address and not config.node_name:
        raise BadSettings("PGS_NODE_ADDRESS has no effect without PGS_NODE_NAME")
    if config.node_name and _NODE_NAME.fullmatch(config.node_name) is None:
        raise BadSettings("PGS_NODE_NAME must be 1 to 32 characters of a-z, 0-9 and -")
    if config.node_name and not config.database_url:
        raise BadSettings("PGS_NODE_NAME needs PGS_DATABASE_URL: nodes share a PostgreSQL")
    if config.node_name and not _port_of(config.node_address):
        raise BadSettings("PGS_NODE_NAME needs PGS_NODE_ADDRESS, host:port for the other nodes")


def _check_identity(config: Config) -> None:
    issuer, keys = (
        parse_service_url(config.identity_issuer),
        parse_service_url(config.identity_jwks_url),
    )
    if config.identity_issuer and (issuer is None or "?" in config.identity_issuer):
        raise BadSettings(
            "PGS_IDENTITY_ISSUER must be an https address, or http on this machine, without a query"
        )
    if config.identity_jwks_url and keys is None:
        raise BadSettings("PGS_IDENTITY_JWKS_URL must be an https address, or http on this machine")
    if keys is not None and issuer is not None and issuer.secure and not keys.secure:
        raise BadSettings("PGS_IDENTITY_JWKS_URL must be https, as PGS_IDENTITY_ISSUER is")
    texts = {
        "PGS_IDENTITY_AUDIENCE": config.identity_audience,
        "PGS_IDENTITY_CLIENT_ID": config.identity_client_id,
    }
    for name, text in texts.items():
        if not text.isprintable() or text != text.strip():
            raise BadSettings(
                f"{name} must be a text without line breaks, and without space around it"
            )
    if issuer is not None and not config.token_audience:
        raise BadSettings(
            "PGS_IDENTITY_ISSUER needs PGS_IDENTITY_AUDIENCE or PGS_IDENTITY_CLIENT_ID: "
            "the audience of its tokens"
        )
    for name, text in (*texts.items(), ("PGS_IDENTITY_JWKS_URL", config.identity_jwks_url)):
        if text and issuer is None:
            raise BadSettings(f"{name} has no effect without PGS_IDENTITY_ISSUER")


def _check_settlement(config: Config) -> None:
    url, token_file = config.settlement_url, config.settlement_token_file
    # The longest path that is appended to the URL names a payout: two ids of 64 characters.
    longest = f"{url.rstrip('/')}/payouts/{'x' * 64}:{'x' * 64}"
    if url and ("?" in url or parse_service_url(longest) is None):
        raise BadSettings(
            "PGS_SETTLEMENT_URL must be an https address, or http on this machine, without a query"
        )
    if url and token_file is None:
        raise BadSettings(
            "PGS_SETTLEMENT_URL needs PGS_SETTLEMENT_TOKEN_FILE: a file with the token "
            "that the settlement server asks for"
        )
    if token_file is not None and not url:
        raise BadSettings("PGS_SETTLEMENT_TOKEN_FILE has no effect without PGS_SETTLEMENT_URL")


def _is_origin(text: str) -> bool:
    found = _ORIGIN.fullmatch(text)
    return found is not None and int(found[1] or 0) <= 65535
