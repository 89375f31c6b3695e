"""Looks up host names in a limited number of threads that nothing else uses."""

import socket
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import msgspec
import trio

from pgs.http.outbound.errors import NOT_LOOKED_UP, NoResponse

LOOKUPS_AT_ONCE: Final = 32
"""Threads for look-ups that somebody waits for. Only look-ups use them, so a slow name server
delays only the calls that need a look-up. If a look-up is given up while all LOOKUPS_LEFT threads
are in use, the look-up counts as one of LOOKUPS_AT_ONCE until it ends."""

LOOKUPS_LEFT: Final = 64
"""Threads for look-ups that nobody waits for any more. glibc gives up an unanswered look-up after
10 to 30 s, long after its try has ended."""

LOOKUPS_PER_HOST: Final = 4
"""Threads for look-ups of one name. A name server that never answers must not keep all threads
busy."""

LOOKUPS_OF_SLOW: Final = 8
"""Threads of LOOKUPS_AT_ONCE that may look up names known to be slow. Each such name gets one
thread until one of its look-ups is quick again."""

SLOW_S: Final = 1.0
"""Seconds after which a look-up marks its name as slow, whether the look-up ended or was given
up."""

SLOW_HOSTS_MAX: Final = 1024
"""Names that are remembered as slow. Beyond that number, the name that has been slow longest is
forgotten."""

# The errors with which getaddrinfo says that a name has no address. Some systems lack the last two.
_NO_ADDRESS: Final = frozenset(
    getattr(socket, name, socket.EAI_NONAME)
    for name in ("EAI_NONAME", "EAI_NODATA", "EAI_ADDRFAMILY")
)


async def look_up(host: str, port: int) -> list[str]:
    """Return the addresses of a name in the resolver's order, after exactly one look-up.

    The list is empty if the name has no address. A link-local address ends with its zone (`%2`).
    Raises NoResponse if the look-up fails.
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
    """One look-up: its name, the slots that it holds, and its result."""

    def __init__(self, host: bytes | None) -> None:
        self.host = host
        self.began_at = 0.0
        self.holds: list[trio.CapacityLimiter] = []
        self.done = trio.Event()
        self.answer: list[Any] = []
        self.error: Exception | None = None

    async def take(self, limiter: trio.CapacityLimiter) -> None:
        """Return once this look-up has a slot of `limiter`."""
        await limiter.acquire_on_behalf_of(self)
        self.holds.append(limiter)

    def give_back(self, *limiters: trio.CapacityLimiter) -> None:
        """Give back the slots of these limiters that this look-up holds."""
        for limiter in [held for held in self.holds if held in limiters]:
            self.holds.remove(limiter)
            limiter.release_on_behalf_of(self)

    @property
    def is_slow(self) -> bool:
        """Whether the look-up has been running for at least `SLOW_S`."""
        return trio.current_time() - self.began_at >= SLOW_S


class ResolverStatistics(msgspec.Struct, frozen=True):
    """What a resolver is doing.

    `names`: names with a look-up that runs or waits for a thread. `waited_for`: threads in use for
    look-ups that somebody waits for. `of_slow`: how many of the places for look-ups of slow names
    are taken. `left`: threads in use for look-ups that were given up. If `left` has reached its
    limit, the thread of a look-up that is given up stays counted in `waited_for`. `slow_names`: the
    name that has been slow longest comes first.
    """

    names: int
    waited_for: int
    of_slow: int
    left: int
    slow_names: tuple[bytes | None, ...]


class LimitedResolver(trio.abc.HostnameResolver):
    """The system's resolver, run in a limited number of threads.

    The application installs it with `trio.socket.set_custom_hostname_resolver`.

    - At most `threads` look-ups that somebody waits for run at the same time, and `per_host` of one
      name. Others wait, and can be cancelled.
    - A look-up that is cancelled while it runs frees its thread slot for another look-up, unless
      `left` cancelled ones are running already. It keeps its name's slot until its thread ends.
    - A name that is known to be slow gets one thread, and all slow names together get `of_slow` of
      the `threads`.

    `system` is what a thread calls: `socket.getaddrinfo`, or a test's stand-in.
    """

    def __init__(
        self,
        threads: int = LOOKUPS_AT_ONCE,
        per_host: int = LOOKUPS_PER_HOST,
        of_slow: int = LOOKUPS_OF_SLOW,
        left: int = LOOKUPS_LEFT,
        system: Callable[..., list[Any]] = socket.getaddrinfo,
    ) -> None:
        self._threads = trio.CapacityLimiter(threads)
        self._of_slow = trio.CapacityLimiter(of_slow)
        self._left = trio.CapacityLimiter(left)
        self._per_host = per_host
        self._hosts: dict[bytes | None, trio.CapacityLimiter] = {}
        self._slow: OrderedDict[bytes | None, None] = OrderedDict()
        self._system = system

    async def getaddrinfo(
        self,
        host: bytes | None,
        port: bytes | str | int | None,
        family: int = 0,
        type: int = 0,
        proto: int = 0,
        flags: int = 0,
    ) -> list[Any]:
        """Return what `socket.getaddrinfo` returns, and raise what it raises.

        A cancelled call does not wait for its thread, which ends by itself.
        """
        lookup = _Lookup(host)
        slots = self._hosts.setdefault(
            host, trio.CapacityLimiter(1 if host in self._slow else self._per_host)
        )
        try:
            await lookup.take(slots)
            if host in self._slow:
                await lookup.take(self._of_slow)
            await lookup.take(self._threads)
        except BaseException:
            self._release(lookup, slots)
            raise
        lookup.began_at = trio.current_time()
        call = partial(self._system, host, port, family, type, proto, flags)
        trio.lowlevel.spawn_system_task(self._run, lookup, call, slots)
        try:
            await lookup.done.wait()
        except trio.Cancelled:
            self._leave(lookup)
            raise
        if lookup.error is not None:
            raise lookup.error
        return lookup.answer

    async def getnameinfo(
        self, sockaddr: tuple[str, int] | tuple[str, int, int, int], flags: int
    ) -> tuple[str, str]:
        """Return what `socket.getnameinfo` returns. trio requires this method; nothing calls it."""
        return await trio.to_thread.run_sync(
            socket.getnameinfo, sockaddr, flags, abandon_on_cancel=True, limiter=self._threads
        )

    async def _run(
        self, lookup: _Lookup, call: Callable[[], list[Any]], slots: trio.CapacityLimiter
    ) -> None:
        """Run a look-up in its thread, then free its slots.

        This is a system task, so it outlives a cancelled caller and frees the slots when the thread
        ends.
        """
        try:
            # The slots limit the threads already, so trio gets a limiter that never blocks. Only
            # the end of the whole run cancels this call and abandons the thread.
            lookup.answer = await trio.to_thread.run_sync(
                call, abandon_on_cancel=True, limiter=trio.CapacityLimiter(1)
            )
        except Exception as error:
            lookup.error = error
        finally:
            lookup.done.set()
            self._mark(lookup.host, slow=lookup.is_slow)
            self._release(lookup, slots)

    def _leave(self, lookup: _Lookup) -> None:
        """Free the thread slots of a look-up that nobody waits for any more, if `left` has room.

        If it has run for `SLOW_S`, its name is marked as slow.
        """
        if lookup.done.is_set():
            return
        if lookup.is_slow:
            self._mark(lookup.host, slow=True)
        if self._left.available_tokens > 0:
            self._left.acquire_on_behalf_of_nowait(lookup)
            lookup.holds.append(self._left)
            lookup.give_back(self._threads, self._of_slow)

    def statistics(self) -> ResolverStatistics:
        """Return how many names and threads are in use now, and which names are slow."""
        return ResolverStatistics(
            names=len(self._hosts),
            waited_for=self._threads.borrowed_tokens,
            of_slow=self._of_slow.borrowed_tokens,
            left=self._left.borrowed_tokens,
            slow_names=tuple(self._slow),
        )

    def _mark(self, host: bytes | None, *, slow: bool) -> None:
        if slow:
            self._slow.setdefault(host)
            if len(self._slow) > SLOW_HOSTS_MAX:
                self._slow.popitem(last=False)
        else:
            self._slow.pop(host, None)
        slots = self._hosts.get(host)
        if slots is not None:
            slots.total_tokens = 1 if slow else self._per_host

    def _release(self, lookup: _Lookup, slots: trio.CapacityLimiter) -> None:
        lookup.give_back(*lookup.holds)
        held = slots.statistics()
        if (
            not held.borrowed_tokens
            and not held.tasks_waiting
            and self._hosts.get(lookup.host) is slots
        ):
            del self._hosts[lookup.host]
