"""Public host names that resolve to this machine, in this process only.

The service delivers to public names and addresses only, and no setting changes that. The demo and
the benchmarks replace the resolver and the address rule in code. Certificates, signatures and tries
work as in production.
"""

import socket
from typing import Any

import trio

from pgs.demo.certificates import Authority
from pgs.http.outbound.tries import Outbound

ADDRESS = "127.0.0.1"

HOOKS_HOST = "hooks.partner.example.com"
"""A name that passes the rules for webhook URLs and that nobody can own: example.com is reserved
for documentation (RFC 2606)."""


class LoopbackResolver(trio.abc.HostnameResolver):
    """Resolves one name to this machine; if it begins with a dot, all names below it.

    It never asks a name server.
    """

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
        """Return this machine's address for a known name. Raises `socket.gaierror` for others."""
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
        """Raise `socket.gaierror`: nothing needs reverse look-ups."""
        raise socket.gaierror(socket.EAI_NONAME, "no such name on this machine")


def loopback_outbound(authority: Authority) -> Outbound:
    """Return an outbound client for endpoints on this machine with certificates of `authority`.

    The client refuses every other address.
    """
    return Outbound(authority.client_context(), lambda address: address == ADDRESS)
