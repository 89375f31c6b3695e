"""Checks of the machine: the data folder, its disk, open files, and the clock."""

import ctypes
import os
import resource
import shutil
from pathlib import Path
from typing import Final

from pgs.config import Config
from pgs.doctor.finding import Finding
from pgs.domain.plurals import counted
from pgs.file_permissions import kept_files, mode_open_to_others
from pgs.http.transport.limits import RESERVED_FILES, ServerLimits, connections_within

FREE_MIN: Final = 256 * 1024**2
"""Bytes of free disk below which commits may soon fail. The write-ahead log, a migration's copy of
a table and an hour of busy play fit into this space."""

FREE_LOW: Final = 2 * 1024**3
"""Bytes of free disk below which an operator should make room: a backup needs as much as the
database."""

_UNSYNCHRONISED: Final = 5
"""Mark of a clock that is not synchronised: `adjtimex` returns it (TIME_ERROR, adjtimex(2))."""

_TIMEX_BYTES: Final = 512
"""Bytes for the kernel's `struct timex`, which has 208 of them on 64-bit Linux."""

_NETWORK_DISKS: Final = frozenset({"nfs", "nfs4", "cifs", "smb3", "fuse.sshfs", "9p", "ceph"})


def data_folder(config: Config) -> Finding:
    """Return whether this process may make and change files in the data folder.

    Run it as the service's user, since another user may have other rights.
    """
    folder = config.data_dir
    if not folder.exists():
        parent = next(place for place in (folder.absolute()).parents if place.exists())
        if os.access(parent, os.W_OK | os.X_OK):
            return Finding("data_folder", "ok", f"{folder} is new: the first start makes it")
        return Finding(
            "data_folder",
            "problem",
            f"{folder} does not exist, and this user may not make it in {parent}",
            f"make it for this user: install -d -m 0700 -o USER {folder}",
        )
    if not folder.is_dir():
        return Finding(
            "data_folder", "problem", f"{folder} is no folder", "name another one: PGS_DATA_DIR"
        )
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        return Finding(
            "data_folder",
            "problem",
            f"this user ({os.geteuid()}) may not read and write in {folder}",
            f"run this as the service's user, or give it the folder: chown -R USER {folder}",
        )
    return Finding("data_folder", "ok", str(folder))


def file_modes(config: Config) -> Finding:
    """Return which of the service's files others may open."""
    open_to_others = [str(path) for path in kept_files(config) if mode_open_to_others(path)]
    if open_to_others:
        return Finding(
            "file_modes",
            "warning",
            f"others may open {', '.join(open_to_others)}",
            f"chmod go= {' '.join(open_to_others)}",
        )
    return Finding("file_modes", "ok", "only their owner may open the service's files")


def free_space(config: Config) -> Finding:
    """Return how much room the data folder's disk has."""
    place = config.data_dir.absolute()
    existing = next(path for path in (place, *place.parents) if path.exists())
    free = shutil.disk_usage(existing).free
    found = f"{free / 1024**3:.1f} GiB free at {existing}"
    if free < FREE_MIN:
        return Finding("free_space", "problem", found, "make room: commits fail on a full disk")
    if free < FREE_LOW:
        return Finding(
            "free_space", "warning", found, "make room: a backup needs as much as the database"
        )
    return Finding("free_space", "ok", found)


def disk_kind(config: Config, mounts: Path = Path("/proc/self/mounts")) -> Finding:
    """Return whether the data folder is on a disk of this machine.

    SQLite's write-ahead log needs memory that all its users share, so it does not work over a
    network. `mounts` is a list of mounted disks in the form of fstab(5).
    """
    if config.database_url:
        return Finding("disk_kind", "skipped", "the database is not in the data folder")
    place = config.data_dir.absolute()
    best, kind = "", "unknown"
    try:
        lines = mounts.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return Finding("disk_kind", "skipped", "this system does not list its disks")
    for line in lines:
        fields = line.split()
        if len(fields) > 2 and place.is_relative_to(fields[1]) and len(fields[1]) >= len(best):
            best, kind = fields[1], fields[2]
    if kind in _NETWORK_DISKS:
        return Finding(
            "disk_kind",
            "problem",
            f"the data folder is on {best}, a disk over the network ({kind})",
            "keep it on a local disk, or use PostgreSQL (PGS_DATABASE_URL)",
        )
    return Finding("disk_kind", "ok", f"{kind} at {best or '/'}")


def open_files() -> Finding:
    """Return for how many connections the limit on open files is high enough."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = ServerLimits().max_connections + RESERVED_FILES
    if hard != resource.RLIM_INFINITY and hard < wanted:
        return Finding(
            "open_files",
            "warning",
            f"this process may open {counted(hard, 'file')}, so there is room for only "
            f"{counted(connections_within(hard), 'connection')}",
            f"raise the limit to {wanted}: LimitNOFILE= in the unit, or ulimit -Hn",
        )
    return Finding("open_files", "ok", f"room for {ServerLimits().max_connections} connections")


def clock_kept() -> Finding:
    """Return whether the kernel reports that the machine's clock is synchronised.

    Authenticator codes, identity tokens and the signatures of nudges depend on the clock.
    """
    try:
        state = ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(_TIMEX_BYTES))
    except (OSError, AttributeError):
        state = -1
    if state < 0:
        return Finding("clock", "skipped", "this system does not say whether its clock is right")
    if state == _UNSYNCHRONISED:
        return Finding(
            "clock",
            "warning",
            "nothing keeps this machine's clock right",
            "run an NTP client such as chrony or systemd-timesyncd",
        )
    return Finding("clock", "ok", "the clock is synchronised")
