"""Mutations of Python code: each replaces one small piece of its text.

The libraries mutmut and cosmic-ray are not used: they run one test command for all code, while
every module here has its own tests, and they do not work in copies of the checkout.
"""

import ast
import re
from collections.abc import Sequence

import msgspec

# For each operator's class in `ast`: a pattern of its text, and its replacement. `<` becomes `<=`
# and so on, so that the tests must try the bound itself.
_COMPARED: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Is: (r"is", "is not"),
    ast.IsNot: (r"is\s+not", "is"),
    ast.In: (r"in", "not in"),
    ast.NotIn: (r"not\s+in", "in"),
}
_ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_COMPUTED: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: (r"\+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: (r"\*", "//"),
    ast.FloorDiv: ("//", "*"),
    ast.Div: ("/", "*"),
    ast.Mod: ("%", "*"),
    ast.Pow: (r"\*\*", "*"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: (r"\|", "&"),
    ast.BitXor: (r"\^", "&"),
}
_SWAPPED = {"min": "max", "max": "min", "any": "all", "all": "any"}
_TYPES = {"None", "bool", "bytes", "float", "int", "str"}
# zip's check of equal lengths never fails in a correct program.
_UNTESTABLE_KEYWORDS = {"strict"}


class Edit(msgspec.Struct, frozen=True, order=True):
    """One mutation of a text: the bytes from `start` to `end`, in UTF-8, are replaced."""

    start: int
    end: int
    replacement: bytes
    line: int
    kind: str

    def apply(self, text: str) -> str:
        """Return the mutated text."""
        content = text.encode()
        return (content[: self.start] + self.replacement + content[self.end :]).decode()


def edits_of(text: str) -> list[Edit]:
    """Return every mutation of a module's text, in the order of the text.

    Annotations, decorators, docstrings, the bases and options of classes, texts for people, and
    named numbers are not mutated.
    """
    finder = _Finder(text)
    finder.visit(ast.parse(text))
    unique = {(edit.start, edit.end, edit.replacement): edit for edit in finder.edits}
    return sorted(unique.values())


class _Finder(ast.NodeVisitor):
    def __init__(self, text: str) -> None:
        self.edits: list[Edit] = []
        self._content = text.encode()
        self._lines = [0]
        for line in self._content.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))

    # --- Places in the text

    def _start(self, node: ast.expr | ast.stmt | ast.keyword) -> int:
        return self._lines[node.lineno - 1] + node.col_offset

    def _end(self, node: ast.expr | ast.stmt | ast.keyword) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._lines[node.end_lineno - 1] + node.end_col_offset

    def _text(self, node: ast.expr | ast.stmt) -> str:
        return self._content[self._start(node) : self._end(node)].decode()

    def _replace(self, start: int, end: int, by: str, kind: str) -> None:
        line = self._content.count(b"\n", 0, start) + 1
        self.edits.append(Edit(start, end, by.encode(), line, kind))

    def _replace_node(self, node: ast.expr | ast.stmt, by: str, kind: str) -> None:
        self._replace(self._start(node), self._end(node), by, kind)

    def _replace_between(
        self, left: ast.expr, right: ast.expr, operator: tuple[str, str], kind: str
    ) -> None:
        """Replace the operator that stands between two expressions."""
        start = self._end(left)
        found = re.search(operator[0].encode(), self._content[start : self._start(right)])
        assert found is not None
        self._replace(start + found.start(), start + found.end(), operator[1], kind)

    # --- What is left alone

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        defaults = [*node.args.defaults, *(value for value in node.args.kw_defaults if value)]
        self._visit_all([*defaults, *node.body])

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815  ast's own naming

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._visit_all(node.body)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is None or _is_type(node.value) or _is_bound(node.target, node.value):
            return
        self.visit(node.value)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if not (isinstance(node.value, ast.Name) and node.value.id == "Literal"):
            self.generic_visit(node)

    def _visit_all(self, nodes: Sequence[ast.expr | ast.stmt]) -> None:
        for node in nodes:
            self.visit(node)

    # --- Statements

    def visit_Expr(self, node: ast.Expr) -> None:
        value = node.value.value if isinstance(node.value, ast.Await) else node.value
        if isinstance(value, ast.Call):
            self._replace_node(node, "pass", "statement removed")
        if not isinstance(value, ast.Constant):
            self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        (target, *others) = node.targets
        if _is_bound(target, node.value):
            return
        if isinstance(target, ast.Name) and target.id.startswith("__"):
            return
        if not others and isinstance(target, ast.Attribute | ast.Subscript):
            self._replace_node(node, "pass", "statement removed")
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        was, now = _COMPUTED[type(node.op)]
        self._replace_between(node.target, node.value, (was + "=", now + "="), "arithmetic")
        self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None and not _is_constant(node.value, None, True, False):
            self._replace_node(node.value, "None", "returns None")
        self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        self._replace_node(node, "pass", "statement removed")
        self.generic_visit(node)

    def visit_Delete(self, node: ast.Delete) -> None:
        self._replace_node(node, "pass", "statement removed")

    def visit_Break(self, node: ast.Break) -> None:
        self._replace_node(node, "continue", "loop")

    def visit_Continue(self, node: ast.Continue) -> None:
        self._replace_node(node, "break", "loop")

    # --- Conditions

    def visit_If(self, node: ast.If | ast.While | ast.IfExp) -> None:
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return
        self._negate(node.test)
        self.generic_visit(node)

    visit_While = visit_If  # noqa: N815  as above
    visit_IfExp = visit_If  # noqa: N815  as above

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for condition in node.ifs:
            self._negate(condition)
        self.generic_visit(node)

    def _negate(self, test: ast.expr) -> None:
        """Negate a condition, unless another mutation of it has the same effect."""
        is_not = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
        is_equality = isinstance(test, ast.Compare) and not isinstance(test.ops[0], _ORDERS)
        if not is_not and not is_equality:
            self._replace_node(test, f"not ({self._text(test)})", "condition")

    # --- Expressions

    def visit_Compare(self, node: ast.Compare) -> None:
        operands = [node.left, *node.comparators]
        for left, operator, right in zip(operands, node.ops, operands[1:], strict=False):
            self._replace_between(left, right, _COMPARED[type(operator)], "comparison")
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        swapped = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            self._replace_between(left, right, swapped, "condition")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if _is_type(node):
            return
        self._replace_between(node.left, node.right, _COMPUTED[type(node.op)], "arithmetic")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        written = {ast.Not: "not", ast.USub: "-"}.get(type(node.op))
        if written is not None:
            self._replace_node(node, self._text(node).removeprefix(written).lstrip(), "sign")
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Name) and node.func.id in _SWAPPED:
            self._replace_node(node.func, _SWAPPED[node.func.id], "function")
        if len(node.args) + len(node.keywords) > 1:
            for keyword in node.keywords:
                self._remove_keyword(keyword)
        self.generic_visit(node)

    def _remove_keyword(self, node: ast.keyword) -> None:
        if node.arg is None or node.arg in _UNTESTABLE_KEYWORDS:
            return
        start, end = self._start(node), self._end(node)
        after = re.match(rb"\s*,[ ]*", self._content[end:])
        if after:
            end += after.end()
        else:
            before = re.search(rb",\s*$", self._content[:start])
            start = before.start() if before else start
        self._replace(start, end, "", "argument removed")

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        # Before Python 3.12 the positions inside an f-string are wrong, so replace it as a whole.
        parts = [part.value for part in node.values if isinstance(part, ast.Constant)]
        if not _is_prose("".join(str(part) for part in parts)):
            self._replace_node(node, '""', "constant")

    def visit_Constant(self, node: ast.Constant) -> None:
        match node.value:
            case bool():
                self._replace_node(node, str(not node.value), "constant")
            case int() | float():
                self._replace_node(node, repr(node.value + 1), "constant")
            case str() if not _is_prose(node.value):
                self._replace_node(node, '""' if node.value else '"!"', "constant")
            case bytes():
                self._replace_node(node, 'b""' if node.value else 'b"!"', "constant")


def _is_bound(target: ast.expr, value: ast.expr) -> bool:
    """Return whether an assignment defines a bound: a named constant that holds numbers alone.

    A bound is a decision, and a test could only repeat it.
    """
    named = isinstance(target, ast.Name) and target.id.isupper()
    return named and not any(
        isinstance(part, ast.Call | ast.JoinedStr)
        or (isinstance(part, ast.Constant) and not isinstance(part.value, int | float))
        for part in _values_in(value)
    )


def _values_in(value: ast.expr) -> list[ast.AST]:
    """Return every part of an expression except the keys of a dictionary."""
    if isinstance(value, ast.Dict):
        return [part for item in value.values for part in ast.walk(item)]
    return list(ast.walk(value))


def _is_prose(text: str) -> bool:
    """Return whether a text is for people. Tests should not depend on its wording."""
    return " " in text


def _is_constant(node: ast.expr, *values: object) -> bool:
    return isinstance(node, ast.Constant) and any(node.value is value for value in values)


def _is_type(node: ast.expr) -> bool:
    """Return whether an expression is a union of types, as in `str | None`."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _is_type(node.left) or _is_type(node.right)
    name = ast.unparse(node).rpartition(".")[2]
    return name in _TYPES or (name.isidentifier() and name[0].isupper() and not name.isupper())
