"""Warns at the start when others can read what the service keeps.

It warns and does not refuse: a restored backup or a mounted secret may well have a wrong mode, and
a service that stays down because of it helps nobody. Files that the service itself creates are
readable by their owner only.
"""

import stat
from collections.abc import Iterable
from pathlib import Path

import structlog

from pgs.config import Config
from pgs.storage.sqlite.connections import DATABASE_NAME

log = structlog.get_logger("pgs.privacy")


def kept_files(config: Config) -> tuple[Path, ...]:
    """Return the paths that only their owner should be able to open.

    These are the data folder, the database with its log, the key ring, and the file with the
    settlement server's token.
    """
    folder = config.data_dir
    return (
        folder,
        *(folder / f"{DATABASE_NAME}{suffix}" for suffix in ("", "-wal", "-shm")),
        config.key_file,
        *((config.settlement_token_file,) if config.settlement_token_file else ()),
    )


def mode_open_to_others(path: Path) -> int | None:
    """Return the mode of a path that its group or others can read, write or enter.

    None if they cannot, or if the path does not exist.
    """
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
    except OSError:
        return None
    return mode if mode & 0o077 else None


def warn_of_open(paths: Iterable[Path]) -> None:
    """Log a warning for each path that its group or others can read, write or enter.

    A path that does not exist is skipped.
    """
    for path in paths:
        mode = mode_open_to_others(path)
        if mode is not None:
            log.warning(
                "open_to_others", path=str(path), mode=f"{mode:04o}", mend=f"chmod go= {path}"
            )
