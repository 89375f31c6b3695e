"""What a run of mutations prints: progress, a table by module, the survivors, the next step."""

import shlex
import sys
import time
from collections.abc import Sequence

from mutation.campaign import Result
from mutation.copies import Verdict
from mutation.mutants import Accepted, Mutant

_EVERY_S = 15  # between two lines of progress, if the output is not a terminal


class Progress:
    """Shows a run's progress: in one changing line on a terminal, else in a line now and then."""

    def __init__(self, total: int) -> None:
        self._total, self._done, self._survived = total, 0, 0
        self._began = self._told = time.monotonic()

    def hear(self, result: Result) -> None:
        """Count one more mutation."""
        self._done += 1
        if result.verdict is Verdict.SURVIVED:
            self._survived += 1
            self._write(f"survived: {result.mutant.place}", "\n")
        left_s = (time.monotonic() - self._began) / self._done * (self._total - self._done)
        line = f"{self._done} of {self._total} mutations, {self._survived} survived"
        if sys.stderr.isatty():
            self._write(f"{line}, about {left_s / 60:.0f} min left", "")
        elif time.monotonic() - self._told >= _EVERY_S or self._done == self._total:
            self._told = time.monotonic()
            self._write(f"{line}, about {left_s / 60:.0f} min left", "\n")

    def _write(self, line: str, end: str) -> None:
        start = "\r\033[K" if sys.stderr.isatty() else ""
        sys.stderr.write(f"{start}{line}{end}")
        sys.stderr.flush()


def table(results: Sequence[Result]) -> str:
    """Return a table with a row for each module: its mutations, and how many got each verdict."""
    rows = []
    for module in sorted({result.mutant.target.module for result in results}):
        found = [result.verdict for result in results if result.mutant.target.module == module]
        rows.append((module, len(found), *(found.count(verdict) for verdict in Verdict)))
    verdicts = "".join(f"{verdict.value:>11}" for verdict in Verdict)
    lines = [f"{'module':<28}{'mutations':>10}{verdicts}"]
    lines += [f"{row[0]:<28}{row[1]:>10}" + "".join(f"{n:>11}" for n in row[2:]) for row in rows]
    return "\n".join(lines)


def survivors(mutants: Sequence[Mutant]) -> str:
    """Return where each survivor is, and what it changes, as lines of a diff."""
    return "\n\n".join(
        f"{mutant.place}  {mutant.edit.kind}\n  - {mutant.was}\n  + {mutant.now}"
        for mutant in mutants
    )


def next_step(mutants: Sequence[Mutant]) -> str:
    """Return what to do about the survivors."""
    again = shlex.join(["scripts/mutate", *dict.fromkeys(mutant.place for mutant in mutants)])
    tests = " ".join(dict.fromkeys(path for mutant in mutants for path in mutant.target.tests))
    return (
        f"{_count(len(mutants))} survived: the code was changed and every test still passed.\n"
        "For each, write a test that fails with the change. These tests were run:\n"
        f"  {tests}\n"
        "Where no test can tell the difference, add the change with its reason to\n"
        "scripts/mutation/accepted.toml. Then run these lines again:\n"
        f"  {again}"
    )


def outdated(accepted: Sequence[Accepted]) -> str:
    """Return what to do about entries of the list that match no mutation any more."""
    lines = [f"  {entry.module}: {entry.was}  ->  {entry.now}" for entry in accepted]
    return "\n".join(
        [
            "scripts/mutation/accepted.toml names changes that do not exist any more.",
            "Their lines were edited: renew these entries or remove them.",
            *lines,
        ]
    )


def _count(number: int) -> str:
    return f"{number} mutation{'' if number == 1 else 's'}"
