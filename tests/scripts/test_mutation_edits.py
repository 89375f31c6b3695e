"""Mutations: which pieces of code are changed, what they become, and which are left alone."""

import sys
from textwrap import dedent

import pytest

from tests.conventions.tree import ROOT

sys.path.insert(0, str(ROOT / "scripts"))

from mutation.edits import edits_of


def mutated(text: str) -> list[str]:
    text = dedent(text)
    return [edit.apply(text) for edit in edits_of(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = a < b", ["x = a <= b"]),
        ("x = a <= b", ["x = a < b"]),
        ("x = a > b", ["x = a >= b"]),
        ("x = a >= b", ["x = a > b"]),
        ("x = a == b", ["x = a != b"]),
        ("x = a != b", ["x = a == b"]),
        ("x = a is b", ["x = a is not b"]),
        ("x = a is not b", ["x = a is b"]),
        ("x = a in b", ["x = a not in b"]),
        ("x = a not in b", ["x = a in b"]),
        ("x = a < b <= c", ["x = a <= b <= c", "x = a < b < c"]),
        ("x = a and b", ["x = a or b"]),
        ("x = a or b or c", ["x = a and b or c", "x = a or b and c"]),
        ("x = not a", ["x = a"]),
        ("x = -a", ["x = a"]),
        ("x = a + b", ["x = a - b"]),
        ("x = a - b", ["x = a + b"]),
        ("x = a * b", ["x = a // b"]),
        ("x = a // b", ["x = a * b"]),
        ("x = a ** b", ["x = a * b"]),
        ("x = a % b", ["x = a * b"]),
        ("x = (a) + (b)", ["x = (a) - (b)"]),
        ("x += a", ["x -= a"]),
        ("x = min(a, b)", ["x = max(a, b)"]),
        ("x = any(a)", ["x = all(a)"]),
        ("x = 7", ["x = 8"]),
        ("x = True", ["x = False"]),
        ("x = 'word'", ['x = ""']),
        ("x = ''", ['x = "!"']),
        ("x = b'word'", ['x = b""']),
        ("x = f'{a}:{b}'", ['x = ""']),
        ("x = 'é' + b", ['x = "" + b', "x = 'é' - b"]),
        ("x = f(a, by=b)", ["x = f(a)"]),
        ("x = f(a=a, b=b)", ["x = f(b=b)", "x = f(a=a)"]),
        ("x = [a for a in b if a]", ["x = [a for a in b if not (a)]"]),
        ("x = a if b else c", ["x = a if not (b) else c"]),
        ("f(a)", ["pass"]),
        ("x.a = b", ["pass"]),
        ("x[a] = b", ["pass"]),
        ("raise a", ["pass"]),
        ("del x[a]", ["pass"]),
    ],
)
def test_one_piece_of_code_is_replaced(text: str, expected: list[str]) -> None:
    assert mutated(text) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return a", ["return None"]),
        ("return True", ["return False"]),
        ("return None", []),
        ("if a: b", ["if not (a): b"]),
        ("if a < b: c", ["if not (a < b): c", "if a <= b: c"]),
        ("if a == b: c", ["if a != b: c"]),
        ("if not a: b", ["if a: b"]),
        ("while a: b", ["while not (a): b"]),
        ("for a in b: break", ["for a in b: continue"]),
        ("for a in b: continue", ["for a in b: break"]),
        ("await f(a)", ["pass"]),
    ],
)
def test_one_statement_of_a_function_is_replaced(body: str, expected: list[str]) -> None:
    header = "async def f():\n    "
    assert mutated(header + body) == [header + line for line in expected]


def test_code_that_no_test_needs_to_check_is_left_alone() -> None:
    text = '''
        """A module's text."""
        from typing import Literal, TYPE_CHECKING
        if TYPE_CHECKING:
            import a
        LIMIT = 4 * 256
        WAIT_S: Final = {"live": 300, "test": 3600}
        Kind = Literal["charge", "settlement"]
        Value = str | int | None
        __slots__ = ("_a", "_b")

        @cached(size=8, kind="b")
        class Struct(Base, frozen=True, gc=False):
            """A class's text."""
            a: Literal["b"]

            def f(self, a: "Struct" = None) -> "Struct":
                """A function's text."""
                raise_(a) if a else a
    '''
    assert [edit.line for edit in edits_of(dedent(text))] == [19]


def test_texts_for_people_are_left_alone_but_codes_are_mutated() -> None:
    assert mutated('x = Refusal("not_found", "No such seat.", f"Seat {a} is gone.")') == [
        'x = Refusal("", "No such seat.", f"Seat {a} is gone.")'
    ]


def test_an_edit_after_text_outside_ascii_is_at_the_right_place() -> None:
    text = "# ééé\nx = 'é'\ny = a < b\n"
    assert [(edit.line, edit.apply(text)) for edit in edits_of(text)] == [
        (2, '# ééé\nx = ""\ny = a < b\n'),
        (3, "# ééé\nx = 'é'\ny = a <= b\n"),
    ]
