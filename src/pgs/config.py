"""Settings: one frozen record, read from a TOML file and environment variables over it, checked before anything starts."""

import dataclasses
import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

import typed_settings
from typed_settings.exceptions import TsError

from pgs.domain.environments import Environment, is_environment

KEY_FILE_NAME = "keys"  # of the key ring, in the data folder or a backup of it


class BadSettings(Exception):
    """A setting cannot be what it is; the message names it and says what it may be."""


@dataclasses.dataclass(frozen=True)
class Config:
    """How this process runs. Each field is `PGS_<NAME>` in the environment, and its lower-case name under `[pgs]` in the file."""

    listen: str = "127.0.0.1:8000"
    """Address of the public listener, host:port. Loopback until a proxy with TLS stands before it; port 0 takes a free one."""

    internal_listen: str = "127.0.0.1:8001"
    """Address of the internal listener: health, readiness, metrics. Never reachable from outside."""

    data_dir: Path = Path("pgs-data")
    """The data folder: database, key ring, operator socket. One process owns it at a time."""

    base_url: str = ""
    """How partners reach the public listener, without a trailing slash; empty: the listener's own address."""

    secret_key_file: Path | None = None
    """The key ring's file; by default `keys` in the data folder. Made on the first start."""

    restrict_environment: str = ""
    """`test` or `live`: the one environment of this deployment; empty: both."""

    process_rate: int = 20_000
    """Admitted calls a second of the whole process, with a burst of one second: more than one process can serve, a bound on overload."""

    log_level: str = "info"
    """The least severe level that is logged: debug, info, warning or error. Requests are logged at info."""

    @property
    def key_file(self) -> Path:
        """Where the key ring is kept."""
        return self.secret_key_file or self.data_dir / KEY_FILE_NAME

    @property
    def restricted_to(self) -> Environment | None:
        """The one environment of this deployment, if it has one."""
        return self.restrict_environment if is_environment(self.restrict_environment) else None


LOG_LEVELS = ("debug", "info", "warning", "error")


def load_config(file: Path | None = None, environ: Mapping[str, str] = os.environ) -> Config:
    """Return the settings: `file`, else the one that `PGS_CONFIG` names, and `PGS_…` variables over it. Raises `BadSettings`."""
    path = file or (Path(environ["PGS_CONFIG"]) if environ.get("PGS_CONFIG") else None)
    if path is not None and not path.is_file():
        raise BadSettings(f"there is no settings file {path}")
    loaders: list[typed_settings.Loader] = []
    if path is not None:
        loaders.append(typed_settings.FileLoader({"*": typed_settings.TomlFormat("pgs")}, [path]))
    loaders.append(typed_settings.EnvLoader("PGS_"))
    try:
        config = typed_settings.load_settings(Config, loaders)
    except TsError as error:
        raise BadSettings(str(error)) from error
    return check_config(config)


def check_config(config: Config) -> Config:
    """Return the settings if each of them can be, else raise `BadSettings`."""
    if config.restrict_environment and config.restricted_to is None:
        raise BadSettings("PGS_RESTRICT_ENVIRONMENT must be test or live, or be left out")
    for name, address in (("PGS_LISTEN", config.listen), ("PGS_INTERNAL_LISTEN", config.internal_listen)):
        host, _, port = address.rpartition(":")
        if not (host and port.isascii() and port.isdecimal() and int(port[:6]) <= 65535):
            raise BadSettings(f"{name} must be host:port with a port from 0 to 65535, such as 127.0.0.1:8000, not {address}")
    if config.process_rate < 1:
        raise BadSettings("PGS_PROCESS_RATE must be at least 1")
    if config.log_level not in LOG_LEVELS:
        raise BadSettings(f"PGS_LOG_LEVEL must be one of {', '.join(LOG_LEVELS)}")
    url = urlsplit(config.base_url)
    if config.base_url and (url.scheme not in ("http", "https") or not url.netloc or url.path or url.query or url.fragment):
        raise BadSettings("PGS_BASE_URL must be http://host or https://host, with a port if need be, and nothing after it")
    return config
