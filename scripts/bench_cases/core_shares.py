"""Holds processes to a share of a core by control groups of Linux, version 1 or 2 (cgroups(7))."""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from cluster_parts.machines import Missing

MOUNTS = Path("/proc/self/mounts")
OWN = Path("/proc/self/cgroup")
RUNNING = Path("/proc")
"""Holds a folder for each process that runs, named after its id."""

PERIOD_US = 20_000
"""Microseconds in which a process may use its share once. A process that has used it up waits for
the next period. A shorter period makes that wait shorter, but a node's share of the period must be
more than 1,000 µs, the least quota that the kernel takes."""

PREFIX = "pgs-bench-"
"""How the names of groups with a limit begin. The id of the process that made the group follows."""

ADVICE = (
    "no process can be held to a share of a core here ({why}). Run it as root; or, where systemd "
    "runs control groups of version 2, as `systemd-run --user --scope -p Delegate=yes "
    "scripts/bench.py nodes`; in a container, give it the right to write to /sys/fs/cgroup. "
    "The page keeps the figures that it has"
)


class Group(Protocol):
    """A control group for processes that share one limit."""

    def add(self, pid: int) -> None:
        """Hold a process to the share from now on."""

    def waits(self) -> tuple[int, int]:
        """Return in how many periods it ran so far, and in how many it had to wait for the next."""

    def close(self) -> None:
        """Remove it. Its processes must have ended."""


@dataclass
class _Folder:
    path: Path

    def add(self, pid: int) -> None:
        (self.path / "cgroup.procs").write_text(f"{pid}\n", encoding="ascii")

    def waits(self) -> tuple[int, int]:
        told = (self.path / "cpu.stat").read_text(encoding="ascii").split()
        figures = dict(zip(told[::2], told[1::2], strict=True))
        return int(figures["nr_periods"]), int(figures["nr_throttled"])

    def close(self) -> None:
        self.path.rmdir()


@dataclass
class Shares:
    """A control group below which this process can make groups, and the version of its tree."""

    version: int
    parent: Path

    def group(self, name: str, share: float) -> Group:
        """Return a new group whose processes use at most `share` of one core. Raises `Missing`."""
        path = self.parent / f"{PREFIX}{os.getpid()}-{name}"
        quota = round(share * PERIOD_US)
        try:
            path.mkdir()
        except OSError as error:
            raise Missing(ADVICE.format(why=error)) from None
        made = _Folder(path)
        try:
            if self.version == 1:
                (path / "cpu.cfs_period_us").write_text(f"{PERIOD_US}\n", encoding="ascii")
                (path / "cpu.cfs_quota_us").write_text(f"{quota}\n", encoding="ascii")
            else:
                (path / "cpu.max").write_text(f"{quota} {PERIOD_US}\n", encoding="ascii")
        except OSError as error:
            made.close()
            raise Missing(ADVICE.format(why=error)) from None
        return made

    def remove_left_behind(self) -> None:
        """Remove the groups of runs that were killed before they could remove them.

        A group stays if a process still runs in it, because the kernel does not remove it then.
        """
        for path in self.parent.glob(f"{PREFIX}*"):
            pid = path.name.removeprefix(PREFIX).partition("-")[0]
            if pid.isdecimal() and not (RUNNING / pid).exists():
                with suppress(OSError):
                    path.rmdir()


def shares(mounts: Path = MOUNTS, own: Path = OWN) -> Shares:
    """Return where this process can make groups with a share of a core. Raises `Missing`.

    Groups that killed runs have left there are removed. With version 2, the root of the mounted
    tree is tried first, then this process's own group. A group whose subgroups have limits may not
    contain processes, so in the second case this process moves into a subgroup of its own group.
    """
    tried = "no control groups with the controller cpu are mounted"
    for line in mounts.read_text(encoding="utf-8").splitlines():
        _, place, kind, options, *_ = [*line.split(), *[""] * 4]
        if kind == "cgroup" and "cpu" in options.split(","):
            if os.access(place, os.W_OK):
                return _cleared(Shares(1, Path(place)))
            tried = f"{place} cannot be written"
        elif kind == "cgroup2":
            for parent in (Path(place), Path(place) / _below(own)):
                try:
                    _give_cpu(parent, Path(place))
                except OSError as error:
                    tried = str(error)
                else:
                    return _cleared(Shares(2, parent))
    raise Missing(ADVICE.format(why=tried))


def _cleared(found: Shares) -> Shares:
    found.remove_left_behind()
    return found


def _below(own: Path) -> str:
    """Return the path of this process's group of version 2, below the root."""
    for line in own.read_text(encoding="utf-8").splitlines():
        if line.startswith("0::"):
            return line[3:].lstrip("/")
    return ""


def _give_cpu(parent: Path, root: Path) -> None:
    """Let the subgroups of a group of version 2 have limits. Raises OSError."""
    if "cpu" not in (parent / "cgroup.controllers").read_text(encoding="ascii").split():
        raise OSError(f"{parent} has no controller cpu")
    if parent != root:
        aside = parent / "pgs-bench-caller"
        aside.mkdir(exist_ok=True)
        for pid in (parent / "cgroup.procs").read_text(encoding="ascii").split():
            with suppress(ProcessLookupError):
                (aside / "cgroup.procs").write_text(f"{pid}\n", encoding="ascii")
    (parent / "cgroup.subtree_control").write_text("+cpu\n", encoding="ascii")
    if not os.access(parent, os.W_OK):
        raise OSError(f"{parent} cannot be written")
