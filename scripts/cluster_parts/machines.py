"""Stands in for the machines of a cluster: network namespaces, or ports of loopback."""

import ctypes
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

PATIENCE_S: Final = 60.0
"""Seconds that a part of a cluster may take to start or to end."""

CLONE_NEWNET: Final = 0x40000000
"""The value with which setns(2) enters a network namespace, from linux/sched.h."""

_LIBC: Final = ctypes.CDLL(None, use_errno=True)

SYSTEM_FOLDERS: Final = "/usr/sbin:/sbin"
"""Folders with server programs, which many accounts do not have in their PATH."""


class Missing(Exception):
    """This machine lacks what the cluster needs; the message says what to install."""


def find(name: str, package: str) -> str:
    """Return the path of a program. Raises `Missing`, naming Debian's package."""
    path = shutil.which(name, path=f"{os.environ.get('PATH', os.defpath)}:{SYSTEM_FOLDERS}")
    if path is None:
        raise Missing(f"there is no {name}: install it with `apt-get install {package}`")
    return path


class Machines(Protocol):
    """Where the parts of a cluster run. `host` is the address at which the proxy listens."""

    host: str

    def address(self, name: str, port: int) -> str:
        """Return the host:port at which the others reach `port` of a machine."""

    def inside(self, name: str, command: Sequence[str]) -> list[str]:
        """Return the command that runs `command` on a machine."""

    def enter(self, name: str) -> None:
        """Make the sockets that this thread opens from now on belong to a machine."""

    def close(self) -> None:
        """Remove the machines."""


class OnLoopback:
    """Everything runs on loopback. Each port of each machine has a port of its own there."""

    host = "127.0.0.1"

    def __init__(self) -> None:
        self._ports: dict[tuple[str, int], int] = {}

    def address(self, name: str, port: int) -> str:
        """Return the host:port that stands for `port` of a machine, always the same one."""
        if (name, port) not in self._ports:
            self._ports[name, port] = free_port()
        return f"127.0.0.1:{self._ports[name, port]}"

    def inside(self, name: str, command: Sequence[str]) -> list[str]:
        """Return the command unchanged."""
        return list(command)

    def enter(self, name: str) -> None:
        """Do nothing: all machines share loopback."""

    def close(self) -> None:
        """Do nothing."""


class InNamespaces:
    """Each machine is a network namespace, joined to the others by a bridge.

    The bridge and the namespaces are made inside the network namespace of this process, which must
    not be the real machine's (`in_own_network`), and they end with this process.
    """

    host = "10.77.0.1"

    def __init__(self, names: Sequence[str]) -> None:
        self._ip = find("ip", "iproute2")
        self._hosts = {name: f"10.77.0.{number}" for number, name in enumerate(names, 11)}
        self._hosts["proxy"] = self.host
        self._holders: dict[str, subprocess.Popen[bytes]] = {}
        self._run("link set lo up")
        self._run("link add bridge type bridge")
        self._run(f"address add {self.host}/24 dev bridge")
        self._run("link set bridge up")
        for name in names:
            self._add(name)

    def _add(self, name: str) -> None:
        holder = subprocess.Popen(
            [find("unshare", "util-linux"), "--net", *ending(), "sleep", "infinity"]
        )
        self._holders[name] = holder
        own = Path("/proc/self/ns/net").readlink()
        while Path(f"/proc/{holder.pid}/ns/net").readlink() == own:
            if holder.poll() is not None:
                raise Missing("a network namespace cannot be made")
        self._run(f"link add {name} type veth peer name eth0 netns {holder.pid}")
        self._run(f"link set {name} master bridge up")
        for words in (
            "link set lo up",
            f"address add {self._hosts[name]}/24 dev eth0",
            "link set eth0 up",
        ):
            subprocess.run(self.inside(name, [self._ip, *words.split()]), check=True)

    def _run(self, words: str) -> None:
        subprocess.run([self._ip, *words.split()], check=True)

    def address(self, name: str, port: int) -> str:
        """Return the host:port of a machine."""
        return f"{self._hosts[name]}:{port}"

    def inside(self, name: str, command: Sequence[str]) -> list[str]:
        """Return the command that runs `command` in a machine's namespace."""
        holder = self._holders[name]
        enter = find("nsenter", "util-linux")
        return [enter, f"--net=/proc/{holder.pid}/ns/net", *command]

    def enter(self, name: str) -> None:
        """Move this thread into a machine's namespace (setns(2)); other threads stay."""
        holder = self._holders[name]
        with Path(f"/proc/{holder.pid}/ns/net").open() as space:
            if _LIBC.setns(space.fileno(), CLONE_NEWNET):
                raise Missing(f"a thread cannot enter {name}: {os.strerror(ctypes.get_errno())}")

    def cut(self, name: str) -> None:
        """Take a machine's link down: what was on the way is lost, and nobody is told."""
        self._run(f"link set {name} down")

    def join(self, name: str) -> None:
        """Take a machine's link up again."""
        self._run(f"link set {name} up")

    def close(self) -> None:
        """End the namespaces."""
        for holder in self._holders.values():
            holder.kill()
            holder.wait()


def in_own_network(argv: Sequence[str], environ: Mapping[str, str] = os.environ) -> bool:
    """Return whether this process has a network of its own; False if it may not make one.

    If it has none and may make one, it restarts in a new network, and this never returns.
    """
    if environ.get("CLUSTER_OWN_NETWORK"):
        return True
    unshare = shutil.which("unshare")
    tried: list[Any] = [unshare, "--net", "true"]
    if unshare is None or subprocess.run(tried, check=False, capture_output=True).returncode:
        return False
    environ = {**environ, "CLUSTER_OWN_NETWORK": "1"}
    # The process replaces itself.
    os.execve(unshare, [unshare, "--net", *argv], environ)  # noqa: S606


def ending() -> list[str]:
    """Return the words to put before a command, so that it ends whenever this process ends."""
    return [find("setpriv", "util-linux"), "--pdeathsig=KILL"]


def end(process: "subprocess.Popen[bytes] | None", number: signal.Signals) -> None:
    """End a process by a signal, or by force if it does not end in time; for None do nothing."""
    if process is None:
        return
    process.send_signal(number)
    try:
        process.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def free_port() -> int:
    """Return a port of loopback on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
