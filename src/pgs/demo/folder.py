"""The demo's data folder. Each run empties it; a folder that no demo has made is refused."""

import os
from pathlib import Path
from typing import BinaryIO

import msgspec

from pgs.domain.secrets import HidesSecrets
from pgs.storage.data_folder import LOCK_NAME, DataFolderInUse, DataLock

MARK = ".pgs-demo"  # A demo puts this file into its folder. The next demo may empty such a folder.
DEMO_FILE = "demo.json"
LOG_FILE = "pgs.log"


class FolderRefused(Exception):
    """The demo cannot use the folder. The message says why, and what to do."""


class DemoFile(HidesSecrets, msgspec.Struct, frozen=True, rename="camel"):
    """What scripts need to use a running demo. It holds keys, so only its owner may read it."""

    SECRETS = frozenset({"test_key", "live_key", "admin_token", "totp_secret"})

    base_url: str
    internal_url: str
    partner_id: str
    test_key: str
    live_key: str
    issuer: str
    admin_token: str
    totp_secret: str
    webhook_url: str
    site_url: str


def claim(folder: Path) -> None:
    """Create `folder` for the demo, or empty it.

    Raises `FolderRefused` if it holds files and no demo has made it, if it holds a folder, if a
    demo runs in it, and if it cannot be used.
    """
    if folder.is_dir() and any(folder.iterdir()):
        if not (folder / MARK).is_file():
            raise FolderRefused(
                f"{folder} is not empty and no demo made it. Name another folder with --data."
            )
        _empty(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        (folder / MARK).touch(mode=0o600)
    except OSError as error:
        raise FolderRefused(
            f"{folder} cannot be used: {error.strerror}. Name another folder with --data."
        ) from error


def _empty(folder: Path) -> None:
    try:
        lock = DataLock(folder)  # A running demo holds this lock.
    except DataFolderInUse:
        raise FolderRefused(
            f"A demo is running in {folder}. End it first, or name another folder with --data."
        ) from None
    try:
        entries = list(folder.iterdir())
        inner = next(
            (entry for entry in entries if entry.is_dir() and not entry.is_symlink()), None
        )
        if inner is not None:  # A demo makes no folders in its folder.
            raise FolderRefused(
                f"{inner} was not made by a demo. Move it away, or name another folder with --data."
            )
        for entry in entries:
            if entry.name not in (MARK, LOCK_NAME):
                entry.unlink()
    finally:
        lock.release()


def open_log(folder: Path) -> BinaryIO:
    """Return the demo's log, opened for appending, mode 0600: it holds ids and addresses."""
    return os.fdopen(
        os.open(folder / LOG_FILE, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab", buffering=0
    )


def write_demo_file(folder: Path, content: DemoFile) -> None:
    """Write `demo.json` with mode 0600, whole or not at all."""
    part = folder / f"{DEMO_FILE}.new"
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(msgspec.json.format(msgspec.json.encode(content)) + b"\n")
    part.replace(folder / DEMO_FILE)
