"""The key ring and its file.

The first start makes the file, readable by its owner alone. Only a rotation rewrites it.
"""

import os
from pathlib import Path

from pgs.clock import Rng
from pgs.domain.keyring import (
    KID_ENTROPY_BYTES,
    SECRET_BYTES,
    KeyRing,
    format_ring,
    new_ring,
    parse_ring,
    with_new_key,
)


class BadKeyFile(Exception):
    """The key ring's file cannot be used."""


class KeyFile:
    """The ring in use, and the file that keeps it."""

    def __init__(self, path: Path, rng: Rng, *, make: bool = True) -> None:
        """Open the file. With `make`, a missing file is created, mode 0600, with one new key.

        `make` is for a new database only: secrets in an existing database were sealed with its own
        ring, and a new ring cannot open them. Raises `BadKeyFile`.
        """
        self.path = path
        self._rng = rng
        try:
            text = path.read_text()
        except FileNotFoundError:
            if not make:
                missing = (
                    f"the key file {path} is missing, and the database is not new "
                    "(PGS_SECRET_KEY_FILE names another place)"
                )
                raise BadKeyFile(missing) from None
            self.ring = new_ring(rng.bytes(KID_ENTROPY_BYTES), rng.bytes(SECRET_BYTES))
            _write(path, self.ring)
            return
        except (OSError, UnicodeDecodeError) as error:
            raise BadKeyFile(f"the key file {path} cannot be read") from error
        try:
            self.ring = parse_ring(text)
        except ValueError as error:
            raise BadKeyFile(f"the key file {path} is damaged: {error}") from error

    def rotate(self) -> KeyRing:
        """Put a new key in front of the ring, on disk first. Older keys stay valid.

        Raises `BadKeyFile` when the ring is full or the file cannot be written; the ring is then
        unchanged.
        """
        try:
            ring = with_new_key(
                self.ring, self._rng.bytes(KID_ENTROPY_BYTES), self._rng.bytes(SECRET_BYTES)
            )
            _write(self.path, ring)
        except (OSError, ValueError) as error:
            raise BadKeyFile(
                f"the key file {self.path} cannot take another key: {error}"
            ) from error
        self.ring = ring
        return ring

    def copy_to(self, path: Path) -> None:
        """Write the ring to another file, mode 0600. Raises OSError."""
        _write(path, self.ring)


def _write(path: Path, ring: KeyRing) -> None:
    # Written under another name first: a start that is killed must not leave half a ring, because
    # the next start would refuse it.
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    part = path.with_name(path.name + ".new")
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(format_ring(ring))
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
