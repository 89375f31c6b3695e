"""A copy of the checkout in which one worker mutates files and runs tests."""

import os
import shutil
import signal
import subprocess
import sys
from enum import Enum
from pathlib import Path

import msgspec
import trio

_LEFT_OUT = (
    ".*",
    "__pycache__",
    "data",
    "demo-data",
    "dist",
    "node_modules",
    "pgs-data",
)
# Memory that an endless loop may fill before its time is up. It is ten times what the tests need,
# and safe for the machine with one worker for each core.
_MEMORY_KB = 4 * 1024 * 1024
_EVERYDAY = "not slow and not torture and not browser"


class Verdict(Enum):
    """Whether the tests noticed a mutation."""

    KILLED = "killed"
    TIMED_OUT = "timed out"
    SURVIVED = "survived"


class Run(msgspec.Struct, frozen=True):
    """One run of some tests: the verdict, and what pytest printed."""

    verdict: Verdict
    output: str


class Copy:
    """A copy of the checkout at `root`, made in `folder`, which must not exist."""

    def __init__(self, root: Path, folder: Path) -> None:
        ignored = shutil.ignore_patterns(*_LEFT_OUT)
        shutil.copytree(root, folder, ignore=ignored, symlinks=True)
        self._folder = folder
        self._modified_at = 1_000_000_000

    def read(self, path: str) -> str:
        """Return the text of a file."""
        return (self._folder / path).read_text(encoding="utf-8")

    def write(self, path: str, text: str) -> None:
        """Replace the text of a file.

        Python reuses a module's bytecode when the time and the size of its file are unchanged, so
        every text gets a new time.
        """
        self._modified_at += 1
        (self._folder / path).write_text(text, encoding="utf-8")
        os.utime(self._folder / path, (self._modified_at, self._modified_at))

    async def run(self, tests: tuple[str, ...], seconds: float) -> Run:
        """Run tests until one fails; after `seconds`, kill them and what they started."""
        pytest = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
        chosen = ["--hypothesis-seed=0", "-m", _EVERYDAY, *tests]
        limited = f'ulimit -v {_MEMORY_KB}; exec "$@"'
        with trio.move_on_after(seconds):
            done = await trio.run_process(
                ["bash", "-c", limited, "bash", *pytest, *chosen],
                cwd=self._folder,
                env=self._environment(),
                capture_stdout=True,
                stderr=subprocess.STDOUT,
                check=False,
                start_new_session=True,
                deliver_cancel=_kill_session,
            )
            verdict = Verdict.KILLED if done.returncode else Verdict.SURVIVED
            return Run(verdict, done.stdout.decode(errors="replace"))
        return Run(Verdict.TIMED_OUT, "")

    def _environment(self) -> dict[str, str]:
        """Return this process's environment, with the copy's package before the installed one."""
        tools = ("PYTEST_", "COVERAGE_")
        ours = {name: value for name, value in os.environ.items() if not name.startswith(tools)}
        return ours | {"PYTHONPATH": str(self._folder / "src")}


async def _kill_session(process: trio.Process) -> None:
    os.killpg(process.pid, signal.SIGKILL)
