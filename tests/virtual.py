"""Shared by tests on a virtual clock: time, repeatable randomness, and a database that can fail.

With pytest-trio's `autojump_clock`, in-line storage and a seeded scheduler, a test runs the same
way every time.
"""

import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from functools import lru_cache
from itertools import chain, repeat
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import apsw
import structlog
import trio
from trio._core import _run as trio_run

from pgs.actors.kernel.system import TEND_S, System
from pgs.storage.database import Database
from pgs.storage.sqlite.database import SqliteDatabase
from tests.beside import open_beside

# By default structlog draws every traceback with all its variables: 0.2 s for each fault that a
# test causes.
structlog.configure(
    processors=[
        structlog.processors.format_exc_info,
        structlog.processors.KeyValueRenderer(key_order=["event"]),
    ]
)

START = 1_800_000_000  # epoch seconds at the virtual clock's zero: 2027-01-15 08:00 UTC


class TrioClock:
    """Wall time that follows trio's clock from a fixed start."""

    def __init__(self, start: int) -> None:
        self._start_ms = start * 1000
        self.behind_s = 0  # seconds by which the machine's clock has been put back

    def skip(self, seconds: int) -> None:
        """Put this clock forward. trio's clock stays, so no waiting task wakes earlier."""
        self._start_ms += seconds * 1000

    def now(self) -> int:
        """Return Unix epoch seconds, rounded down."""
        return self.now_ms() // 1000

    def now_ms(self) -> int:
        """Return Unix epoch milliseconds, rounded down."""
        # A virtual clock adds floats. Rounded to microseconds, ten times 0.1 s is a full second.
        return self._start_ms + round(trio.current_time() * 1_000_000) // 1000

    def real(self) -> int:
        """Return the seconds of a machine's clock, which may be put back."""
        return self.real_ms() // 1000

    def real_ms(self) -> int:
        """Return the milliseconds of a machine's clock, which may be put back."""
        return self.now_ms() - self.behind_s * 1000


def clock() -> TrioClock:
    """Return a wall clock that starts at `START` and follows trio's."""
    return TrioClock(START)


class SeededRng:
    """Gives the same bytes for the same seed."""

    def __init__(self, seed: int = 0) -> None:
        self._random = Random(seed)

    def bytes(self, count: int) -> bytes:
        """Return the next `count` bytes."""
        return self._random.randbytes(count)


class _ChoiceOfThread(threading.local):
    """The random source of trio's scheduler, one for each thread.

    A service in another thread must not take numbers from the test's source.
    """

    _main: ClassVar[Random] = trio_run._r  # hypothesis seeds it for its tests

    def __init__(self) -> None:
        self._random = (
            self._main if threading.current_thread() is threading.main_thread() else Random()
        )

    def __getattr__(self, name: str) -> Any:
        return getattr(self._random, name)


# trio has no public way to seed its scheduler, so this replaces its private random source. The
# type differs, but every attribute that trio asks for is passed on to a Random.
trio_run._r = _ChoiceOfThread()  # type: ignore[assignment]


def seed_scheduler(seed: int) -> None:
    """Seed the order in which trio runs tasks that are ready at once, in this thread.

    Call it inside the run.
    """
    trio_run._r.seed(seed)


class Faults:
    """Makes SQL statements that contain a given text fail. `statements` lists all that were run.

    Line breaks and indentation of a statement count as single spaces.
    """

    def __init__(self) -> None:
        self.statements: list[str] = []
        self.before: list[tuple[str, Callable[[], None]]] = []
        self.after: list[tuple[str, Callable[[], None]]] = []

    def fail(
        self,
        text: str,
        error: BaseException | None = None,
        *,
        after: bool = False,
        skip: int = 0,
        times: int | None = None,
    ) -> None:
        """Make statements that contain `text` fail before they run, or with `after` once they ran.

        The first `skip` of them pass, and the next `times` fail: by default, all the others.
        """
        failing = repeat(True) if times is None else repeat(True, times)
        verdicts = chain(repeat(False, skip), failing)

        def fail() -> None:
            if next(verdicts, False):
                raise error or apsw.IOError("disk I/O error")

        (self.after if after else self.before).append((text, fail))

    def commit_before(self, text: str, path: Path, sql: str) -> None:
        """Commit `sql`, once, just before the first statement that contains `text`."""
        left = [sql]

        def commit() -> None:
            if left:
                with closing(open_beside(path)) as connection:
                    connection.execute(left.pop())

        self.before.append((text, commit))

    @contextmanager
    def hold(self, text: str) -> Iterator[threading.Event]:
        """Hold statements that contain `text` until the block ends or the yielded event is set."""
        release = threading.Event()
        self.before.append((text, lambda: _wait(release)))
        try:
            yield release
        finally:
            release.set()

    def heal(self) -> None:
        """Let everything run again."""
        self.before.clear()
        self.after.clear()

    def count(self, text: str) -> int:
        """Return how many of the statements contain `text`."""
        return sum(text in statement for statement in self.statements)

    @property
    def factory(self) -> type[apsw.Connection]:
        """The class of SQLite connections on which these faults happen.

        SQLite itself does not notice if two threads use one of its connections at the same time
        (see `sqlite_driver.opened`), so these connections do.
        """
        faults = self

        class Cursor(apsw.Cursor):
            def execute(self, statements: str, bindings: Any = None, **how: Any) -> apsw.Cursor:
                statement = _in_one_line(statements)
                faults.statements.append(statement)
                _run_hooks(faults.before, statement)
                connection: Any = self.connection
                with connection.in_use():
                    super().execute(statements, bindings, **how)
                _run_hooks(faults.after, statement)
                return self

        class Connection(apsw.Connection):
            def __init__(self, *args: Any, **kwargs: Any) -> None:
                super().__init__(*args, **kwargs)
                self.cursor_factory = Cursor
                self._used = threading.Lock()

            @contextmanager
            def in_use(self) -> Iterator[None]:
                if not self._used.acquire(blocking=False):
                    raise RuntimeError("two threads use one connection at the same time")
                try:
                    yield
                finally:
                    self._used.release()

            def wal_checkpoint(self, *args: Any, **kwargs: Any) -> tuple[int, int]:
                faults.statements.append("wal_checkpoint")
                _run_hooks(faults.before, "wal_checkpoint")
                return super().wal_checkpoint(*args, **kwargs)

        return Connection


@lru_cache(maxsize=1000)
def _in_one_line(sql: str) -> str:
    return " ".join(sql.split())


def _run_hooks(hooks: list[tuple[str, Callable[[], None]]], statement: str) -> None:
    for text, hook in tuple(hooks):
        if text in statement:
            hook()


def _wait(release: threading.Event) -> None:
    if not release.wait(60):
        raise TimeoutError("a test never released the statements that it held")


def on_file(database: Database) -> SqliteDatabase:
    """Return a database that lies in a file, for a test that touches the file."""
    assert isinstance(database, SqliteDatabase)
    return database


@contextmanager
def open_store(
    folder: Path, faults: Faults | None = None, *, inline: bool = True
) -> Iterator[SqliteDatabase]:
    """Open a database for a block. Unless `inline`, the block calls `start` in its trio run."""
    faults = faults or Faults()
    database = SqliteDatabase(folder, inline=inline, factory=faults.factory)
    faults.statements.clear()  # forget the statements of the migrations
    try:
        yield database
    finally:
        faults.heal()
        database.close()


@asynccontextmanager
async def actor_system(
    on_event: Callable[[str], None] = lambda name: None,
) -> AsyncIterator[System]:
    """Run a system of actors for a block, tend it, and stop it at the end."""
    async with trio.open_nursery() as nursery:
        system = System(nursery, on_event)
        nursery.start_soon(system.refuse_when_cancelled)
        nursery.start_soon(tend, system)
        try:
            yield system
        finally:
            with trio.CancelScope(shield=True), suppress(trio.Cancelled):
                await system.stop()


async def tend(system: System) -> None:
    """Tend a system of actors for ever, as the service's chore does."""
    while True:
        await trio.sleep(TEND_S)
        system.tend()
