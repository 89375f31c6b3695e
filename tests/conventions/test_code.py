"""Rules about the code that neither ruff nor import-linter can check."""

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from pgs.actors.kernel.dispatch import DispatchingActor
from pgs.actors.kernel.mail import Actor
from pgs.actors.kernel.system import RunningActor
from tests.conventions.tree import ROOT, SOURCE, files, module_of

FILE_MAX = 350  # lines
FUNCTION_MAX = 60  # lines
_WRITTEN = (
    *((ROOT / folder, ".py") for folder in ("src", "tests", "scripts", "clients", "examples")),
    *((ROOT / folder, ".ts") for folder in ("web/src", "clients/js")),
    (ROOT / "web" / "src", ".tsx"),
    (SOURCE, ".sql"),
)
_PYTHON = tuple(ROOT / folder for folder in ("src", "tests", "scripts", "clients", "examples"))


def _trees(folder: Path = SOURCE) -> Iterator[tuple[str, ast.Module]]:
    """Yield path and syntax tree of every module in a folder, by default of the package."""
    for path in files(folder, ".py"):
        yield str(path.relative_to(ROOT)), module_of(path)


def _reaches(tree: ast.Module) -> Iterator[ast.Attribute]:
    """Yield uses of private attributes of anything but `self`, `cls` and the module's classes."""
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
    """An import under TYPE_CHECKING would hide a circular import."""
    assert [path for path, tree in _trees() if "TYPE_CHECKING" in ast.unparse(tree)] == []


def test_every_actor_is_a_dispatching_actor() -> None:
    modules = [
        import_module(".".join(path.relative_to(SOURCE.parent).with_suffix("").parts))
        for path in files(SOURCE / "actors", ".py")
    ]
    made = {
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type) and value.__name__.endswith("Actor")
    } - {Actor, DispatchingActor, RunningActor}
    assert len(made) >= 6
    assert {actor for actor in made if not issubclass(actor, DispatchingActor)} == set()


def test_no_source_file_is_too_long() -> None:
    long = {
        str(path.relative_to(ROOT))
        for folder, suffix in _WRITTEN
        for path in files(folder, suffix)
        if len(path.read_text(encoding="utf-8").splitlines()) > FILE_MAX
    }
    assert long == set()


def test_no_function_is_too_long() -> None:
    long = {
        f"{path}: {node.name}"
        for folder in _PYTHON
        for path, tree in _trees(folder)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or node.lineno) - node.lineno >= FUNCTION_MAX
    }
    assert long == set()
