"""Only the storage package has SQL, in the subset that SQLite and PostgreSQL share."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.conventions.tree import ROOT, SOURCE, files, module_of

_STATEMENT = re.compile(
    r"\s*(select\s.+\sfrom\s|select\s+\d|insert\s+(or\s+\w+\s+)?into\s|replace\s+into\s"
    r"|update\s+\w+\s+set\s|delete\s+from\s"
    r"|(create|drop|alter)\s+(unique\s+)?(table|index|view|trigger)\s"
    r"|with\s+\w+\s+as\s*\(|pragma\s)",
    re.IGNORECASE | re.DOTALL,
)
_ONE_DATABASE_ONLY = re.compile(
    r"\bautoincrement\b|\bstrict\b|\bpragma\b|\binsert\s+or\b|\breplace\s+into\b"
    r"|\bwithout\s+rowid\b|\browid\b|\bglob\b|\bifnull\s*\("
    r"|\bjsonb?_\w+\s*\(|->|\b(strftime|unixepoch|julianday|datetime)\s*\(|%",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)


def _literals(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield line number and text of every string in a module, except docstrings."""
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            yield node.lineno, node.value


def _sql_files() -> list[tuple[Path, str]]:
    """Return each .sql file, relative to the checkout, with its text."""
    return [
        (path.relative_to(ROOT), path.read_text(encoding="utf-8")) for path in files(SOURCE, ".sql")
    ]


def test_no_python_file_outside_storage_holds_sql() -> None:
    elsewhere = [
        path
        for folder in (SOURCE, ROOT / "scripts")
        for path in files(folder, ".py")
        if not path.is_relative_to(SOURCE / "storage")
    ]
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in elsewhere
        for line, text in _literals(module_of(path))
        if _STATEMENT.match(text)
    ]
    assert found == []


def test_sql_has_no_construct_of_one_database_only() -> None:
    found = [
        (str(path), match.group())
        for path, text in _sql_files()
        for match in _ONE_DATABASE_ONLY.finditer(_COMMENT.sub("", text))
    ]
    assert found == []


def test_sql_comments_hold_nothing_that_a_driver_would_read() -> None:
    """aiosql reads `:word` in a comment as a parameter, and psycopg reads any `%` as one."""
    found = [
        (str(path), comment)
        for path, text in _sql_files()
        for comment in _COMMENT.findall(text)
        if re.search(r"[^:]:\w|%", comment)
    ]
    assert found == []
