"""Who else may read what a service keeps: looked at when it starts, and said in the log.

Said, and not refused: a restored backup or a mounted secret may well come with a mode too many, and a service that stays down over it
helps nobody. What the service makes itself is its owner's alone.
"""

import stat
from collections.abc import Iterable
from pathlib import Path

import structlog

from pgs.config import Config
from pgs.storage.connections import DATABASE_NAME

log = structlog.get_logger("pgs.privacy")


def kept_files(config: Config) -> tuple[Path, ...]:
    """Return what only its owner should be able to open: the data folder, the database with its log, the key ring."""
    folder = config.data_dir
    return (
        folder,
        *(folder / f"{DATABASE_NAME}{suffix}" for suffix in ("", "-wal", "-shm")),
        config.key_file,
    )


def warn_of_open(paths: Iterable[Path]) -> None:
    """Log a warning for each path that its group or others can read, write or enter. One that is not there is passed over."""
    for path in paths:
        try:
            mode = stat.S_IMODE(path.stat().st_mode)
        except OSError:
            continue
        if mode & 0o077:
            log.warning(
                "open_to_others", path=str(path), mode=f"{mode:04o}", mend=f"chmod go= {path}"
            )
