"""Looking names up, within limits of its own."""

import socket
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import trio

from pgs.http.outbound.errors import NOT_LOOKED_UP, NoResponse

LOOKUPS_AT_ONCE: Final = 32
"""Threads for look-ups. A look-up that nobody answers holds its thread for glibc's 10 to 30 s, long after its try has gone."""

LOOKUPS_PER_HOST: Final = 4
"""Threads for look-ups of one name: whoever runs a name server that never answers must not take the threads of all others."""

# How getaddrinfo says that the answer holds no address. EAI_NODATA and EAI_ADDRFAMILY are not everywhere.
_NO_ADDRESS: Final = frozenset(getattr(socket, name, socket.EAI_NONAME) for name in ("EAI_NONAME", "EAI_NODATA", "EAI_ADDRFAMILY"))


async def look_up(host: str, port: int) -> list[str]:
    """Return the addresses of a name, in the resolver's order; none when it has none. Exactly one look-up.

    An address that is bound to an interface of this machine comes with its zone (`%`). Raises NoResponse when the look-up fails.
    """
    try:
        found = await trio.socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        if error.errno in _NO_ADDRESS:
            return []
        raise NoResponse(NOT_LOOKED_UP) from None
    except (OSError, UnicodeError):
        raise NoResponse(NOT_LOOKED_UP) from None
    return [_address(sockaddr) for *_, sockaddr in found]


def _address(sockaddr: tuple[Any, ...]) -> str:
    scope = sockaddr[3] if len(sockaddr) == 4 else 0
    return f"{sockaddr[0]}%{scope}" if scope else str(sockaddr[0])


class _Lookup:
    """A look-up under way. It holds its slots until its thread has ended, whether or not somebody still waits for it."""

    def __init__(self) -> None:
        self.done = trio.Event()
        self.answer: list[Any] = []
        self.error: Exception | None = None


class LimitedResolver(trio.abc.HostnameResolver):
    """The system's resolver in threads of its own. The application installs it with `trio.socket.set_custom_hostname_resolver`.

    At most `threads` look-ups run at once, and `per_host` of one name; the others wait, and can be cancelled. `system` is what a
    thread calls: `socket.getaddrinfo`, or a test's stand-in.
    """

    def __init__(
        self,
        threads: int = LOOKUPS_AT_ONCE,
        per_host: int = LOOKUPS_PER_HOST,
        system: Callable[..., list[Any]] = socket.getaddrinfo,
    ) -> None:
        self._threads = trio.CapacityLimiter(threads)
        self._per_host = per_host
        self._hosts: dict[bytes | None, trio.CapacityLimiter] = {}
        self._system = system

    async def getaddrinfo(
        self, host: bytes | None, port: bytes | str | int | None, family: int = 0, type: int = 0, proto: int = 0, flags: int = 0
    ) -> list[Any]:
        """Return what `socket.getaddrinfo` returns, and raise what it raises. A cancelled call leaves its thread to end by itself."""
        lookup = _Lookup()
        slots = self._hosts.setdefault(host, trio.CapacityLimiter(self._per_host))
        try:
            await slots.acquire_on_behalf_of(lookup)
            await self._threads.acquire_on_behalf_of(lookup)
        except BaseException:
            self._release(host, slots, lookup)
            raise
        call = partial(self._system, host, port, family, type, proto, flags)
        trio.lowlevel.spawn_system_task(self._run, lookup, call, host, slots)
        await lookup.done.wait()
        if lookup.error is not None:
            raise lookup.error
        return lookup.answer

    async def getnameinfo(self, sockaddr: tuple[str, int] | tuple[str, int, int, int], flags: int) -> tuple[str, str]:
        """Return what `socket.getnameinfo` returns. Nothing here asks for it."""
        return await trio.to_thread.run_sync(socket.getnameinfo, sockaddr, flags, abandon_on_cancel=True, limiter=self._threads)

    async def _run(self, lookup: _Lookup, call: Callable[[], list[Any]], host: bytes | None, slots: trio.CapacityLimiter) -> None:
        """Run in a system task, so that the slots come back when the thread ends and not when its caller is cancelled."""
        try:
            # The one token of this limiter is the thread that the slots stand for. Only the end of the run abandons it.
            lookup.answer = await trio.to_thread.run_sync(call, abandon_on_cancel=True, limiter=trio.CapacityLimiter(1))
        except Exception as error:
            lookup.error = error
        finally:
            self._release(host, slots, lookup)
            lookup.done.set()

    def _release(self, host: bytes | None, slots: trio.CapacityLimiter, lookup: _Lookup) -> None:
        for limiter in (self._threads, slots):
            if lookup in limiter.statistics().borrowers:
                limiter.release_on_behalf_of(lookup)
        held = slots.statistics()
        if not held.borrowed_tokens and not held.tasks_waiting and self._hosts.get(host) is slots:
            del self._hosts[host]
