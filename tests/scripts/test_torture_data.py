"""`scripts/torture_data.py` and `scripts/torture_kills.py` end with nothing lost."""

import ast
import subprocess
import sys

import pytest

from tests.conventions.tree import ROOT

RECIPES = ROOT / "scripts" / "data_torture" / "recipes.py"


def _names() -> list[str]:
    """Return the names of the recipes, in their order."""
    (table,) = [
        node.value
        for node in ast.parse(RECIPES.read_text(encoding="utf-8")).body
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and node.target.id == "RECIPES"
    ]
    return [
        node.id.replace("_", "-")
        for node in ast.walk(table or ast.Pass())
        if isinstance(node, ast.Name) and node.id not in ("recipe", "str", "RECIPES")
    ]


def _run(name: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / "scripts" / name, *words],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize("recipe", _names())
def test_a_recipe_ends_in_a_refusal_or_with_nothing_lost(recipe: str) -> None:
    done = _run("torture_data.py", recipe)
    assert done.returncode == 0, done.stdout
    if "NOT TRIED" in done.stdout:
        pytest.skip("NOT TESTED: no C compiler")
    assert f"| {recipe} | " in done.stdout
    assert "refused" in done.stdout or "nothing lost" in done.stdout


@pytest.mark.slow
def test_an_unknown_recipe_is_refused() -> None:
    done = _run("torture_data.py", "nothing")
    assert done.returncode == 2
    assert "there is no nothing" in done.stderr


@pytest.mark.slow
def test_kills_under_load_lose_nothing() -> None:
    done = _run("torture_kills.py", "--cycles", "2")
    assert done.returncode == 0, done.stdout
    assert "| kills | 2 |" in done.stdout
    assert "| acknowledged and lost, doubled or different | none |" in done.stdout
