"""Waiting for the input of many connections without a system call for each wait.

trio's `wait_readable` tells the kernel of each wait anew. Here the kernel is told once for each
connection, and reports all input from then on (`EPOLLET`, epoll(7)). One task takes the reports and
wakes the tasks that wait.
"""

import select
from contextlib import suppress
from typing import Any, Final

import trio

AVAILABLE: Final = hasattr(select, "epoll")
"""Whether this system has epoll. Only Linux has it."""


class Input:
    """The input of one connection. One task at a time may wait for it."""

    __slots__ = ("_arrived", "_over", "_task")

    def __init__(self) -> None:
        self._arrived = False  # since the last wait
        self._over = False  # the client has ended its side, or the connection has broken
        self._task: trio.lowlevel.Task | None = None

    async def wait(self) -> None:
        """Return once there may be something to read, or once `wake` is called.

        The kernel reports the end of the input only once, perhaps together with the last bytes. So
        after the end every wait returns immediately. If a wait is cancelled after input has
        arrived, the next wait returns immediately.
        """
        if self._arrived:
            await trio.lowlevel.checkpoint()
            self._arrived = self._over
            return
        self._task = trio.lowlevel.current_task()
        await trio.lowlevel.wait_task_rescheduled(self._abort)

    def wake(self) -> None:
        """End the present wait, if there is one."""
        if self._task is not None:
            task, self._task = self._task, None
            trio.lowlevel.reschedule(task)

    def report(self, is_end: bool) -> None:
        """Note that something has arrived, and wake the task that waits for it."""
        if is_end:
            self._over = self._arrived = True
        if self._task is None:
            self._arrived = True
        else:
            self.wake()

    def _abort(self, _: Any) -> trio.lowlevel.Abort:
        self._task = None
        return trio.lowlevel.Abort.SUCCEEDED


class Inputs:
    """The inputs of a listener's connections. `run` wakes the tasks that wait for them.

    `close` it once the last connection has ended.
    """

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._by_fd: dict[int, Input] = {}

    def enter(self, fd: int) -> Input:
        """Return the input of a connection that begins, by its file descriptor."""
        entered = self._by_fd[fd] = Input()
        self._epoll.register(fd, select.EPOLLIN | select.EPOLLRDHUP | select.EPOLLET)
        return entered

    def leave(self, fd: int, entered: Input) -> None:
        """Forget an input. Do nothing if its connection is closed and a new one has this `fd`."""
        if self._by_fd.get(fd) is entered:
            del self._by_fd[fd]
            with suppress(OSError):  # the connection is closed
                self._epoll.unregister(fd)

    async def run(self) -> None:
        """Wake tasks until cancelled."""
        epoll, by_fd = self._epoll, self._by_fd
        while True:
            await trio.lowlevel.wait_readable(epoll.fileno())
            for fd, events in epoll.poll(0):
                entered = by_fd.get(fd)
                if entered is not None:
                    entered.report(events != select.EPOLLIN)

    def close(self) -> None:
        """Close the epoll."""
        self._epoll.close()
