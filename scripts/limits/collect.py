"""The numbers of the source code, read from its syntax trees without importing it."""

import ast
import io
import operator
import re
import tokenize
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

Number = int | float

_CONSTANT = re.compile(r"_?[A-Z][A-Z0-9_]*")
_BUNDLE = re.compile(r"\w*(Limits?|Policy|Limiter)")
"""Classes whose fields are limits: `ServerLimits`, `RestartLimit`, `BucketPolicy`."""

_OPERATIONS: Mapping[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
    ast.LShift: lambda left, right: int(left) << int(right),
}


Comments = tuple[Mapping[int, str], Mapping[int, str]]
"""The comments of a file by line: those beside code, and those on lines of their own."""


class Bound(NamedTuple):
    """A number of the source code. `file` is relative to the package; `text` is its description."""

    file: str
    line: int
    name: str
    value: Number
    text: str


def collect(package: Path) -> list[Bound]:
    """Return the numbers of every file of a package, in the order of files and lines."""

    @cache
    def numbers(path: Path) -> tuple[Bound, ...]:
        file = path.relative_to(package).as_posix()
        return tuple(numbers_of(path.read_text(encoding="utf-8"), file, imported))

    def imported(module: str) -> Mapping[str, Number]:
        inner = module.removeprefix(f"{package.name}.").replace(".", "/")
        path = package / f"{inner}.py"
        return {bound.name: bound.value for bound in numbers(path)} if path.exists() else {}

    return [bound for path in sorted(package.rglob("*.py")) for bound in numbers(path)]


def numbers_of(
    source: str, file: str, imported: Callable[[str], Mapping[str, Number]] = lambda _: {}
) -> Iterator[Bound]:
    """Yield the numbers of one file; `imported` returns those of another module, by its name.

    These are upper-case names at the top of a module: `WAIT_S = 5.0`, each entry of
    `WAIT_S = {"live": 5}`, each field of `LIMITS = ServerLimits(backlog=16)`. The default of a
    field in a class of limits is a number too.
    """
    module, comments = ast.parse(source), _comments(source)
    known: dict[str, Number] = {}
    for statement in module.body:
        if isinstance(statement, ast.ImportFrom) and statement.module:
            wanted = {alias.name for alias in statement.names if _CONSTANT.fullmatch(alias.name)}
            others = imported(statement.module) if wanted else {}
            known |= {name: others[name] for name in wanted & others.keys()}
    for statement, text in _described(module.body, comments):
        if isinstance(statement, ast.ClassDef):
            yield from _fields(statement, comments, file)
            continue
        name, value = _assigned(statement)
        if value is None or not _CONSTANT.fullmatch(name):
            continue
        number = _evaluate(value, known)
        if number is not None:
            known[name] = number
            yield Bound(file, statement.lineno, name, number, text)
        elif isinstance(value, ast.Dict):
            for key, item in zip(value.keys, value.values, strict=True):
                entry = _evaluate(item, known)
                if isinstance(key, ast.Constant) and entry is not None:
                    yield Bound(file, item.lineno, f"{name}[{key.value!r}]", entry, text)
        elif isinstance(value, ast.Call) and _BUNDLE.fullmatch(ast.unparse(value.func)):
            for keyword in value.keywords:
                field = _evaluate(keyword.value, known)
                if field is not None:
                    place = f"{name}.{keyword.arg}"
                    yield Bound(file, keyword.value.lineno, place, field, text)


def _fields(owner: ast.ClassDef, comments: Comments, file: str) -> Iterator[Bound]:
    if not _BUNDLE.fullmatch(owner.name):
        return
    for statement, text in _described(owner.body, comments):
        name, value = _assigned(statement)
        number = None if value is None else _evaluate(value, {})
        if number is not None:
            yield Bound(file, statement.lineno, f"{owner.name}.{name}", number, text)


def _described(body: list[ast.stmt], comments: Comments) -> Iterator[tuple[ast.stmt, str]]:
    """Yield each statement with its text: the string below it, or a comment beside or above it."""
    for place, statement in enumerate(body):
        below = body[place + 1] if place + 1 < len(body) else None
        match below:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield statement, " ".join(text.split())
            case _:
                beside, above = comments
                text = beside.get(statement.end_lineno or 0, "")
                first = statement.lineno
                while not text and first - 1 in above:
                    first -= 1
                lines = (above[line] for line in range(first, statement.lineno))
                yield statement, text or " ".join(lines)


def _comments(source: str) -> Comments:
    beside: dict[int, str] = {}
    above: dict[int, str] = {}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        text = token.string.lstrip("# ")
        if token.type == tokenize.COMMENT and not text.startswith(("noqa", "type:")):
            alone = token.line[: token.start[1]].isspace() or token.start[1] == 0
            (above if alone else beside)[token.start[0]] = text
    return beside, above


def _assigned(statement: ast.stmt) -> tuple[str, ast.expr | None]:
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            return name, value
        case ast.AnnAssign(target=ast.Name(id=name), value=annotated):
            return name, annotated
        case _:
            return "", None


def _evaluate(node: ast.expr, known: Mapping[str, Number]) -> Number | None:
    """Return the value of an expression of numbers and earlier names, None for any other."""
    match node:
        case ast.Constant(value=bool()):
            return None
        case ast.Constant(value=int() | float() as value):
            return value
        case ast.Name(id=name):
            return known.get(name)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            number = _evaluate(operand, known)
            return None if number is None else -number
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
            first, second = _evaluate(left, known), _evaluate(right, known)
            if first is None or second is None:
                return None
            return _OPERATIONS[type(op)](first, second)
        case _:
            return None
