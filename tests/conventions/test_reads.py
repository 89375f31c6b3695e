"""Every read of the database is a coroutine, so that a network database can replace SQLite."""

import ast
import inspect
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from pgs.storage.reader import Reader
from tests.conventions.tree import SOURCE, files, module_of

STORAGE = SOURCE / "storage"
MODULES = [path for path in files(SOURCE, ".py") if not path.is_relative_to(STORAGE)]


def _takes_a_reader(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return any(
        argument.annotation is not None and ast.unparse(argument.annotation) == "Reader"
        for argument in arguments
    )


def plain_functions_of_a_reader(tree: ast.Module) -> list[str]:
    """Return the names of the functions that take a `Reader` and are not `async`."""
    return [
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and _takes_a_reader(node)
    ]


READS = {
    (path.stem, node.name)
    for path in files(STORAGE, ".py")
    for node in module_of(path).body
    if isinstance(node, ast.AsyncFunctionDef) and _takes_a_reader(node)
}
"""Module and name of every repository read."""


def _names_of_reads(tree: ast.Module) -> tuple[set[str], dict[str, str]]:
    """Return the names of the reads that a module imports, and its repositories by local name."""
    functions, repositories = set(), {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or node.module is None:
            continue
        for alias in node.names:
            if node.module == "pgs.storage":
                repositories[alias.asname or alias.name] = alias.name
            elif (node.module.removeprefix("pgs.storage."), alias.name) in READS:
                functions.add(alias.asname or alias.name)
    return functions, repositories


def reads_without_await(tree: ast.Module) -> Iterator[str]:
    """Yield calls of repository reads that are not awaited.

    Lambdas may make such calls, because `read_in_bulk` awaits what a lambda returns.
    """
    functions, repositories = _names_of_reads(tree)
    allowed = {
        id(node.value if isinstance(node, ast.Await) else node.body)
        for node in ast.walk(tree)
        if isinstance(node, ast.Await | ast.Lambda)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or id(node) in allowed:
            continue
        match node.func:
            case ast.Name(id=name) if name in functions:
                yield ast.unparse(node)
            case ast.Attribute(value=ast.Name(id=module), attr=name) if (
                repositories.get(module),
                name,
            ) in READS:
                yield ast.unparse(node)


def _found(check: Callable[[ast.Module], Iterable[str]], paths: Iterable[Path]) -> list[str]:
    """Return what a check finds, each with the path of its module."""
    return [f"{path}: {text}" for path in paths for text in check(module_of(path))]


def test_a_function_that_takes_a_reader_is_a_coroutine() -> None:
    assert _found(plain_functions_of_a_reader, files(SOURCE, ".py")) == []


def test_a_read_outside_storage_is_awaited() -> None:
    assert _found(reads_without_await, MODULES) == []


def test_nothing_outside_storage_runs_a_query_directly() -> None:
    assert [
        f"{path}: {name}"
        for path in MODULES
        for name in ("pgs.storage.queries", "second_reader")
        if name in path.read_text(encoding="utf-8")
    ] == []


def test_every_read_method_of_a_reader_is_a_coroutine() -> None:
    reads = {
        name: inspect.iscoroutinefunction(method)
        for name, method in inspect.getmembers(Reader, inspect.isfunction)
        if not name.startswith("_") and name not in ("close", "one_moment")
    }
    assert reads == {"one": True, "all": True, "together": True, "still_fails": True}


def test_the_checks_find_a_plain_function_and_a_read_without_await() -> None:
    assert plain_functions_of_a_reader(ast.parse("def find(reader: Reader): ...")) == ["find"]
    assert plain_functions_of_a_reader(ast.parse("async def find(reader: Reader): ...")) == []
    source = """
from pgs.storage import seats as rows
from pgs.storage.moves import moves_of_match as moves

async def look(reader):
    rows.find_seat(reader, "acme", "sea_1")
    moves(reader, "acme", "mat_1")
    await moves(reader, "acme", "mat_2")
    rows.insert_seat(seat)
    return lambda reader: rows.find_head(reader, "acme", "test")
"""
    assert list(reads_without_await(ast.parse(source))) == [
        "rows.find_seat(reader, 'acme', 'sea_1')",
        "moves(reader, 'acme', 'mat_1')",
    ]
