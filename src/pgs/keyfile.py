"""The key ring and its file.

The first start makes the file, readable by its owner alone. Only operators' commands rewrite it.
"""

import fcntl
import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from pgs.clock import Rng
from pgs.domain.keyring import (
    KID_ENTROPY_BYTES,
    SECRET_BYTES,
    KeyRing,
    format_ring,
    new_ring,
    parse_ring,
    with_accepted_key,
    with_current_key,
    with_keys_of,
    with_new_key,
)

PART_ENTROPY_BYTES: Final = 8
"""Bytes of randomness in the name under which the ring is written first, so that no two processes
write the same file."""


_PART: Final = re.compile(rf"[0-9a-f]{{{2 * PART_ENTROPY_BYTES}}}\.new")
"""The end of such a name, after the name of the ring's file and a dot."""


class BadKeyFile(Exception):
    """The key ring's file cannot be used."""


class MissingKeyFile(BadKeyFile):
    """There is no file."""


class KeyFile:
    """The ring in use, and the file that keeps it."""

    def __init__(self, path: Path, rng: Rng, *, make: bool = True) -> None:
        """Open the file. With `make`, a missing file is created, mode 0600, with one new key.

        `make` is for a new database only: secrets in an existing database were sealed with its own
        ring, and a new ring cannot open them. Raises `BadKeyFile`, and OSError if the new file
        cannot be written.
        """
        self.path = path
        self._rng = rng
        try:
            self.ring = _read(path)
        except MissingKeyFile:
            if not make:
                raise
            ring = new_ring(rng.bytes(KID_ENTROPY_BYTES), rng.bytes(SECRET_BYTES))
            self._write(ring)
            self.ring = ring
        self._remove_leftovers()

    def rotate(self) -> KeyRing:
        """Put a new key in front of the ring. Older keys stay valid.

        The file is written before the key is used. Raises `BadKeyFile` when the ring is full, the
        file has keys that this process has not read (see `reload`), or the file cannot be written;
        the ring is then unchanged. The same holds for `add`.
        """
        return self._change(
            lambda ring: with_new_key(
                ring, self._rng.bytes(KID_ENTROPY_BYTES), self._rng.bytes(SECRET_BYTES)
            )
        )

    def add(self) -> KeyRing:
        """Add a new key that is accepted from now on, and not used yet."""
        return self._change(
            lambda ring: with_accepted_key(
                ring, self._rng.bytes(KID_ENTROPY_BYTES), self._rng.bytes(SECRET_BYTES)
            )
        )

    def use(self, kid: str) -> KeyRing:
        """Use one of the ring's keys from now on.

        The file is written first. Raises `BadKeyFile` when the ring lacks the key, and for the
        faults of the file that `rotate` names; the ring is then unchanged.
        """
        return self._change(lambda ring: with_current_key(ring, kid))

    def reload(self) -> KeyRing:
        """Accept every new key of the file. The key in use stays in use, also after a restart.

        The file must have all keys of the ring. If they do not come first in the file, in the order
        of the ring, the file is rewritten so that they do. Raises `BadKeyFile`; the ring is then
        unchanged.
        """
        found = _read(self.path)
        if missing := [key.kid for key in self.ring.keys if key not in found.keys]:
            raise BadKeyFile(
                f"the key file {self.path} lacks keys that are in use: {', '.join(missing)}"
            )
        ring = with_keys_of(self.ring, found)
        if ring != found:
            try:
                self._write(ring)
            except OSError as error:
                raise BadKeyFile(f"the key file {self.path} cannot be written: {error}") from error
        self.ring = ring
        return ring

    def _change(self, change: Callable[[KeyRing], KeyRing]) -> KeyRing:
        try:
            ring = change(self.ring)
            if self._unread():
                raise ValueError("it has keys that were not read yet: `pgs keyring reload`")
            self._write(ring)
        except (OSError, ValueError) as error:
            raise BadKeyFile(f"the key file {self.path} cannot be changed: {error}") from error
        self.ring = ring
        return ring

    def _unread(self) -> bool:
        try:
            return not set(_read(self.path).keys) <= set(self.ring.keys)
        except MissingKeyFile:
            return False

    def _write(self, ring: KeyRing) -> None:
        # Nodes on one machine may share the file, and write it at the same moment.
        entropy = self._rng.bytes(PART_ENTROPY_BYTES).hex()
        _write(self.path, self.path.with_name(f"{self.path.name}.{entropy}.new"), ring)
        self._remove_leftovers()

    def _remove_leftovers(self) -> None:
        """Remove rings that were being written when their process was killed.

        A process that writes one has it locked, so what can be locked is a leftover.
        """
        parts = []
        with suppress(OSError):  # a leftover does no harm, and the next start tries again
            parts = [
                one
                for one in self.path.parent.iterdir()
                if one.name.startswith(f"{self.path.name}.")
                and _PART.fullmatch(one.name.removeprefix(f"{self.path.name}."))
            ]
        for part in parts:
            with suppress(OSError):
                _remove_unlocked(part)

    def copy_to(self, path: Path) -> None:
        """Write the ring to another file, mode 0600. Raises OSError.

        The copy is written under the same name with `.new` at its end, and then renamed. So two
        copies to one path must not run at the same time. If a backup is killed, the next backup
        recognises the leftover by this name.
        """
        _write(path, path.with_name(path.name + ".new"), self.ring)


def _read(path: Path) -> KeyRing:
    try:
        text = path.read_text()
    except FileNotFoundError:
        missing = (
            f"the key file {path} is missing, and the database is not new "
            "(PGS_SECRET_KEY_FILE names another place)"
        )
        raise MissingKeyFile(missing) from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadKeyFile(f"the key file {path} cannot be read") from error
    try:
        return parse_ring(text)
    except ValueError as error:
        raise BadKeyFile(f"the key file {path} is damaged: {error}") from error


def _write(path: Path, part: Path, ring: KeyRing) -> None:
    # Written under another name first: a start that is killed must not leave half a ring, because
    # the next start would refuse it.
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    opened = _open_locked(part)
    try:
        with os.fdopen(opened, "w") as file:
            file.write(format_ring(ring))
            file.flush()
            os.fsync(file.fileno())
            part.replace(path)  # while it is locked
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _open_locked(part: Path) -> int:
    """Make a file for a ring, and lock it, so that nobody takes it for a leftover."""
    while True:
        opened = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        fcntl.flock(opened, fcntl.LOCK_EX)
        if os.fstat(opened).st_nlink:
            return opened
        os.close(opened)  # somebody removed it before it was locked


def _remove_unlocked(part: Path) -> None:
    """Remove a file that no process has locked. Raises OSError."""
    opened = os.open(part, os.O_RDWR | os.O_NOFOLLOW)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        part.unlink()
    finally:
        os.close(opened)
