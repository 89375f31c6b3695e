"""Public host names that lead back to this machine, for this process alone.

Delivery takes public names and public addresses only, and no setting changes that. The demo and the benchmarks replace the resolver and
the address rule by code instead; certificates, signatures and tries are as they are everywhere.
"""

import socket
from typing import Any

import trio

from pgs.demo.certificates import Authority
from pgs.http.outbound.tries import Outbound

ADDRESS = "127.0.0.1"

HOOKS_HOST = "hooks.partner.example.com"
"""A name that passes the rules for webhook URLs and that nobody can own: example.com is reserved for documents (RFC 2606)."""


class LoopbackResolver(trio.abc.HostnameResolver):
    """Knows one name, or all that lie below one that begins with a dot: they are this machine. No name server is ever asked."""

    def __init__(self, name: str) -> None:
        self._name = name.encode("ascii")

    async def getaddrinfo(
        self,
        host: bytes | None,
        port: bytes | str | int | None,
        family: int = 0,
        type: int = 0,
        proto: int = 0,
        flags: int = 0,
    ) -> list[Any]:
        """Return this machine's address for the names it knows. Raises `socket.gaierror` for all others."""
        await trio.lowlevel.checkpoint()
        known = host is not None and (
            host.endswith(self._name) if self._name.startswith(b".") else host == self._name
        )
        if not known:
            raise socket.gaierror(socket.EAI_NONAME, "no such name on this machine")
        return [(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (ADDRESS, port))]

    async def getnameinfo(
        self, sockaddr: tuple[str, int] | tuple[str, int, int, int], flags: int
    ) -> tuple[str, str]:
        """Raise `socket.gaierror`: nobody asks for names."""
        raise socket.gaierror(socket.EAI_NONAME, "no such name on this machine")


def loopback_outbound(authority: Authority) -> Outbound:
    """Return the way out to endpoints on this machine, and to nowhere else, behind certificates of `authority`."""
    return Outbound(authority.client_context(), lambda address: address == ADDRESS)
