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

# Private names that are used elsewhere than where they are defined, each with the reason.
_REACHED = {
    ("tests/conftest.py", "sys._getframe"): "a documented function of Python",
    ("tests/virtual.py", "trio._core"): "trio has no public way to seed its scheduler",
    ("tests/virtual.py", "_run"): "the same: it holds the scheduler's random source",
    ("tests/virtual.py", "trio_run._r"): "the same: it is the scheduler's random source",
    (
        "clients/python/tests/test_trio_client.py",
        "transport._pool",
    ): "httpx has no public way to replace the network under its transport",
}


def _trees(folder: Path = SOURCE) -> Iterator[tuple[str, ast.Module]]:
    """Yield path and syntax tree of every module in a folder, by default of the package."""
    for path in files(folder, ".py"):
        yield str(path.relative_to(ROOT)), module_of(path)


def _is_private(name: str) -> bool:
    return any(part.startswith("_") and not part.startswith("__") for part in name.split("."))


def _reaches(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield line and text of each private name that belongs to somebody else.

    That is an attribute of anything but `self`, `cls` and the module's classes, a name or module
    that is imported, and a name that `setattr` or a patch is given as a text.
    """
    own = {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    own |= {"self", "cls", "super()"}
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value, name) if _is_private(name) and ast.unparse(value) not in own:
                yield node.lineno, ast.unparse(node)
            case ast.Import(names):
                yield from ((node.lineno, each.name) for each in names if _is_private(each.name))
            case ast.ImportFrom(module, names):
                told = [module or "", *(each.name for each in names)]
                yield from ((node.lineno, name) for name in told if _is_private(name))
            case ast.Call(ast.Name("setattr") | ast.Attribute(_, "setattr"), arguments):
                for each in arguments:
                    match each:
                        case ast.Constant(str(name)) if _is_private(name):
                            yield node.lineno, name


def test_no_module_uses_a_private_name_of_another() -> None:
    """Tests, too, know others by their public names only."""
    found = {
        (path, name): line
        for folder in _PYTHON
        for path, tree in _trees(folder)
        for line, name in _reaches(tree)
    }
    assert {key: line for key, line in found.items() if key not in _REACHED} == {}
    assert _REACHED.keys() - found.keys() == set(), "an exception that nothing needs"


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("self._a", 0),
        ("super()._a", 0),
        ("class A: ...\nA._a", 0),
        ("other.__class__", 0),
        ("from __future__ import annotations", 0),
        ("setattr(other, 'a', 1)", 0),
        ("other._a", 1),
        ("self.other._a", 1),
        ("from other import a, _b", 1),
        ("from other._part import a", 1),
        ("import other._part", 1),
        ("patch.setattr(other, '_a', 1)", 1),
        ("patch.setattr('other._a', 1)", 1),
    ],
)
def test_the_search_for_private_names_finds_them(code: str, found: int) -> None:
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
