"""Runs of mutations: which are drawn, what is found and reported. The checkout does not change."""

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conventions.tree import ROOT

sys.path.insert(0, str(ROOT / "scripts"))

from mutation.campaign import Result, UnmutatedFailure, run_all
from mutation.command import SURVIVORS, all_mutants, report
from mutation.copies import Copy, Verdict
from mutation.mutants import (
    Accepted,
    Mutant,
    UnknownPath,
    chosen,
    drawn,
    mutants_of,
    read_accepted,
)
from mutation.targets import Target, all_targets

RULE = "def may_sit(age: int) -> bool:\n    return age >= 18\n"
TESTS = "from pgs.domain.rule import may_sit\n\ndef test_a_rule(): assert may_sit(19)\n"
TARGET = Target("domain/rule.py", ("tests/domain/test_rule.py",))


def project(folder: Path, tests: str) -> Path:
    """Make a checkout of one rule with its tests."""
    for path, text in {
        "src/pgs/__init__.py": "",
        "src/pgs/domain/__init__.py": "",
        TARGET.path: RULE,
        TARGET.tests[0]: tests,
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


async def verdicts(root: Path) -> dict[str, Verdict]:
    told: list[Result] = []
    await run_all(root, mutants_of(TARGET, RULE), 2, told.append)
    return {result.mutant.now: result.verdict for result in told}


@pytest.mark.exhaustive
async def test_a_mutation_that_no_test_notices_survives(tmp_path: Path) -> None:
    root = project(tmp_path, TESTS)
    assert await verdicts(root) == {
        "return None": Verdict.KILLED,
        "return age > 18": Verdict.SURVIVED,
        "return age >= 19": Verdict.SURVIVED,
    }
    assert (root / TARGET.path).read_text() == RULE
    assert sorted(path.name for path in root.rglob("*")) == sorted(
        [
            "__init__.py",
            "__init__.py",
            "domain",
            "domain",
            "pgs",
            "rule.py",
            "src",
            "test_rule.py",
            "tests",
        ]
    )


@pytest.mark.parametrize("tests", ["def test_a_rule(): assert False\n", ""])
@pytest.mark.slow  # starts processes
async def test_tests_that_fail_without_a_mutation_are_reported(tests: str, tmp_path: Path) -> None:
    with pytest.raises(UnmutatedFailure, match=r"tests/domain/test_rule\.py"):
        await verdicts(project(tmp_path, tests))


@pytest.mark.slow  # starts processes that are stopped
async def test_tests_that_run_for_too_long_are_stopped(tmp_path: Path) -> None:
    root = project(tmp_path / "root", "import time\n\ndef test_it(): time.sleep(3600)\n")
    run = await Copy(root, tmp_path / "copy").run(TARGET.tests, seconds=3)
    assert run.verdict is Verdict.TIMED_OUT


@pytest.mark.slow  # starts processes that are stopped
async def test_tests_that_use_too_much_memory_are_stopped(tmp_path: Path) -> None:
    root = project(tmp_path / "root", "def test_it(): bytes(64 * 2**30)\n")
    run = await Copy(root, tmp_path / "copy").run(TARGET.tests, seconds=60)
    assert run.verdict is Verdict.KILLED
    assert "MemoryError" in run.output


def test_every_module_that_is_mutated_has_tests() -> None:
    targets = all_targets(ROOT)
    assert [target.module for target in targets if not target.tests] == []
    assert {"domain/ledger.py", "storage/ledger.py", "storage/writer.py"} <= {
        target.module for target in targets
    }


def test_every_accepted_mutation_still_exists_and_has_a_reason() -> None:
    mutants = all_mutants(ROOT)
    accepted = read_accepted()
    assert [e for e in accepted if not any(e.covers(m) for m in mutants)] == []
    assert [e for e in accepted if not e.why] == []


def test_a_mutation_is_known_by_its_lines_without_their_comments() -> None:
    (mutant,) = mutants_of(
        TARGET, "RULES = [\n    first(  # the oldest\n        'a',  # or 'b'\n    ),\n]\n"
    )
    assert (mutant.was, mutant.now) == ("'a',", '"",')


def test_a_seed_draws_the_same_mutations_again() -> None:
    mutants = all_mutants(ROOT)
    first = drawn(mutants, 20, seed=1)
    assert first == drawn(mutants, 20, seed=1)
    assert first != drawn(mutants, 20, seed=2)
    assert len(first) == 20
    assert sorted(first, key=mutants.index) == first
    assert drawn(mutants, None, seed=1) == drawn(mutants, len(mutants), seed=1) == mutants


def test_paths_choose_a_folder_a_file_or_a_line() -> None:
    mutants = all_mutants(ROOT)

    def modules(*paths: str) -> set[str]:
        return {mutant.target.module for mutant in chosen(mutants, paths)}

    assert (
        modules("src/pgs/domain/ledger.py") == modules("domain/ledger.py") == {"domain/ledger.py"}
    )
    assert modules("domain/ledger.py", "storage/ledger.py") == {
        "domain/ledger.py",
        "storage/ledger.py",
    }
    assert modules("storage/") == modules("./src/pgs/storage") > {"storage/writer.py"}
    line = mutants[0].edit.line
    assert {m.edit.line for m in chosen(mutants, [f"{mutants[0].target.path}:{line}"])} == {line}
    assert chosen(mutants, []) == mutants
    with pytest.raises(UnknownPath, match="domain/nowhere"):
        chosen(mutants, ["domain/nowhere.py"])


def _mutants() -> list[Mutant]:
    return mutants_of(TARGET, RULE)


def test_the_report_shows_survivors_and_what_to_do_next(capsys: pytest.CaptureFixture[str]) -> None:
    none, bound, number = _mutants()
    results = [
        Result(none, Verdict.KILLED),
        Result(bound, Verdict.SURVIVED),
        Result(number, Verdict.TIMED_OUT),
    ]
    assert report(results, []) == SURVIVORS
    printed = capsys.readouterr().out
    assert (
        "src/pgs/domain/rule.py:2  comparison\n  - return age >= 18\n  + return age > 18\n"
        in printed
    )
    assert "1 mutation survived" in printed
    assert "  scripts/mutate src/pgs/domain/rule.py:2\n" in printed


def test_a_report_without_survivors_is_a_success(capsys: pytest.CaptureFixture[str]) -> None:
    assert report([Result(mutant, Verdict.KILLED) for mutant in _mutants()], []) == 0
    assert "None of these 3 mutations survived." in capsys.readouterr().out


def test_an_accepted_mutation_that_no_longer_exists_is_a_failure(
    capsys: pytest.CaptureFixture[str],
) -> None:
    gone: Any = Accepted("domain/rule.py", "return age >= 16", "return age > 16", "no reason")
    assert report([], [gone]) == SURVIVORS
    assert "return age >= 16  ->  return age > 16" in capsys.readouterr().out
