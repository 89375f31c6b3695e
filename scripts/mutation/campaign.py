"""Runs the tests against mutations, in as many copies of the checkout as there are workers."""

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import trio
from mutation.copies import Copy, Run, Verdict
from mutation.mutants import Mutant

# If tests take this many times longer than without the mutation, the mutation has made an endless
# loop or wait. Every run gets at least `LEAST_S` seconds, in case the machine is busy.
TIMES_SLOWER = 5
LEAST_S = 30.0
# The tests of one module must end within this time when nothing is mutated.
UNMUTATED_S = 600.0

Tests = tuple[str, ...]


class Result(msgspec.Struct, frozen=True):
    """A mutation, and whether the tests noticed it."""

    mutant: Mutant
    verdict: Verdict


class UnmutatedFailure(Exception):
    """Tests fail without a mutation, or there are none, so verdicts would mean nothing."""

    def __init__(self, tests: Tests, output: str) -> None:
        super().__init__(" ".join(tests) or "no tests")
        self.output = output


async def run_all(
    root: Path, mutants: Sequence[Mutant], workers: int, tell: Callable[[Result], None]
) -> None:
    """Test all mutations; call `tell` with each result as it comes. Raises `UnmutatedFailure`."""
    waiting = list(reversed(mutants))
    with tempfile.TemporaryDirectory(prefix="mutate-", ignore_cleanup_errors=True) as folder:
        copies = [Copy(root, Path(folder) / str(number)) for number in range(workers)]
        limits = await _time_limits(copies, {mutant.target.tests for mutant in mutants})

        async def work(copy: Copy) -> None:
            while waiting:
                mutant = waiting.pop()
                run = await _try(copy, mutant, limits[mutant.target.tests])
                tell(Result(mutant, run.verdict))

        async with trio.open_nursery() as nursery:
            for copy in copies:
                nursery.start_soon(work, copy)


async def _try(copy: Copy, mutant: Mutant, seconds: float) -> Run:
    path = mutant.target.path
    text = copy.read(path)
    copy.write(path, mutant.edit.apply(text))
    try:
        return await copy.run(mutant.target.tests, seconds)
    finally:
        copy.write(path, text)


async def _time_limits(copies: Sequence[Copy], wanted: set[Tests]) -> dict[Tests, float]:
    """Run each set of tests without a mutation; return how many seconds it may take with one."""
    limits: dict[Tests, float] = {}
    failures: list[UnmutatedFailure] = []
    waiting = sorted(wanted)

    async def measure(copy: Copy) -> None:
        while waiting and not failures:
            tests = waiting.pop()
            began = trio.current_time()
            run = await copy.run(tests, UNMUTATED_S) if tests else Run(Verdict.KILLED, "")
            if run.verdict is not Verdict.SURVIVED:
                failures.append(UnmutatedFailure(tests, run.output))
            limits[tests] = max(LEAST_S, TIMES_SLOWER * (trio.current_time() - began))

    async with trio.open_nursery() as nursery:
        for copy in copies:
            nursery.start_soon(measure, copy)
    if failures:
        raise failures[0]
    return limits
