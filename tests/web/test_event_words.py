"""The portal has words for every action of the event log."""

import ast
import re
from pathlib import Path
from typing import get_args

from pgs.domain.licences import Step, action_of
from tests.conventions.tree import ROOT, SOURCE, files, module_of


def _actions() -> set[str]:
    """Return every action that the actors write into the event log."""
    found: set[str] = {action_of(step) for step in get_args(Step)}
    for path in files(SOURCE / "actors", ".py"):
        for value in filter(None, map(_action_in, ast.walk(module_of(path)))):
            found |= {str(one.value) for one in ast.walk(value) if isinstance(one, ast.Constant)}
    return found


def _action_in(node: ast.AST) -> ast.expr | None:
    """Return the value that `node` gives to an argument or a variable `action`, or None."""
    if isinstance(node, ast.keyword):
        return node.value if node.arg == "action" else None
    if not isinstance(node, ast.Assign):
        return None
    names = [one.id for one in node.targets if isinstance(one, ast.Name)]
    return node.value if "action" in names else None


_PORTAL = ROOT / "web" / "src" / "portal"


def _with_words(path: Path) -> set[str]:
    """Return the actions for which a file of the portal has words."""
    text = path.read_text(encoding="utf-8")
    return set(re.findall(r"^  '([a-z_]+\.[a-z_]+)':", text, re.MULTILINE))


def test_exactly_one_file_of_the_portal_has_words_for_the_actions_and_has_all_of_them() -> None:
    actions = _actions()
    with_words = {path: _with_words(path) & actions for path in files(_PORTAL, ".ts")}
    with_words |= {path: _with_words(path) & actions for path in files(_PORTAL, ".tsx")}
    catalogues = {path.name: found for path, found in with_words.items() if found}
    assert catalogues == {"events.ts": actions}
