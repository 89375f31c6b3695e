"""Threads that call the cluster until they are stopped."""

import threading
from collections.abc import Callable


class Threads:
    """One thread for each piece of work, which goes on until `_ended` is set."""

    def __init__(self, *works: Callable[[], None]) -> None:
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=work, daemon=True) for work in works]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Let each thread end after the call that it is making."""
        self._ended.set()

    def join(self) -> None:
        for thread in self._threads:
            thread.join()
