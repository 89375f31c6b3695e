"""What the code must not do, where neither ruff nor import-linter can tell."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from pgs.actors.kernel.dispatch import DispatchingActor
from tests.conventions.tree import ROOT, SOURCE, files

FILE_MAX = 350  # lines
FUNCTION_MAX = 60  # lines

NOT_YET_SHORT = {"src/pgs/actors/seating/seats.py"}
NOT_YET_DISPATCHING = {"SeatsActor", "SettlementActor", "TableActor"}


def _trees() -> Iterator[tuple[str, ast.Module]]:
    """The path and the syntax tree of every module of the package."""
    for path in files(SOURCE, ".py"):
        yield str(path.relative_to(ROOT)), ast.parse(path.read_text(encoding="utf-8"))


def _reaches(tree: ast.Module) -> Iterator[ast.Attribute]:
    """The private attributes that a module takes from anything but self, cls, super and a class."""
    classes = {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            owner = ast.unparse(node.value)
            if not node.attr.startswith("__") and owner not in {"self", "cls", "super()", *classes}:
                yield node


def test_no_module_uses_a_private_attribute_of_another_object() -> None:
    found = [
        f"{path}:{node.lineno}: {ast.unparse(node)}"
        for path, tree in _trees()
        for node in _reaches(tree)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("self._a", 0),
        ("super()._a", 0),
        ("class A: ...\nA._a", 0),
        ("other.__class__", 0),
        ("other._a", 1),
        ("self.other._a", 1),
    ],
)
def test_the_search_for_private_attributes_finds_them(code: str, found: int) -> None:
    assert len(list(_reaches(ast.parse(code)))) == found


def test_no_module_imports_for_type_checkers_only() -> None:
    """An import behind TYPE_CHECKING hides a circle."""
    assert [path for path, tree in _trees() if "TYPE_CHECKING" in ast.unparse(tree)] == []


def test_every_actor_dispatches_by_its_table() -> None:
    made = {
        actor
        for path in files(SOURCE / "actors", ".py")
        for actor in _classes(path)
        if actor.name.endswith("Actor") and not _derives(actor, {"Protocol", "ABC"})
    }
    assert len(made) >= 6
    others = {actor.name for actor in made if not _derives(actor, {DispatchingActor.__name__})}
    assert others <= NOT_YET_DISPATCHING


def _classes(path: Path) -> list[ast.ClassDef]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [node for node in tree.body if isinstance(node, ast.ClassDef)]


def _derives(node: ast.ClassDef, bases: set[str]) -> bool:
    return bool(bases & {ast.unparse(base) for base in node.bases})


def test_no_source_file_is_longer_than_it_may_be() -> None:
    long = {
        str(path.relative_to(ROOT))
        for folder, suffix in ((SOURCE, ".py"), (SOURCE, ".sql"), (ROOT / "web" / "src", ".ts"))
        for path in files(folder, suffix)
        if len(path.read_text(encoding="utf-8").splitlines()) > FILE_MAX
    }
    assert long <= NOT_YET_SHORT


def test_no_function_is_longer_than_it_may_be() -> None:
    long = {
        f"{path}: {node.name}"
        for path, tree in _trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or node.lineno) - node.lineno >= FUNCTION_MAX
    }
    assert long == set()
