"""The mutations: all of them, those that no test can notice, and those drawn for one run."""

import random
import re
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
from mutation.edits import Edit, edits_of
from mutation.targets import Target

ACCEPTED = Path(__file__).with_name("accepted.toml")


class Mutant(msgspec.Struct, frozen=True):
    """One mutation of one module. `was` and `now` are the lines that it changes, as one line."""

    target: Target
    edit: Edit
    was: str
    now: str

    @property
    def place(self) -> str:
        """Where the mutation is, as `path:line`."""
        return f"{self.target.path}:{self.edit.line}"


class Accepted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A mutation that no test can notice, and why."""

    module: str
    was: str
    now: str
    why: str

    def covers(self, mutant: Mutant) -> bool:
        """Return whether `mutant` is this mutation, on any line of its module."""
        return (self.module, self.was, self.now) == (mutant.target.module, mutant.was, mutant.now)


class UnknownPath(Exception):
    """A path names no file, folder or line that is mutated."""


def read_accepted(path: Path = ACCEPTED) -> list[Accepted]:
    """Return the list of mutations that no test can notice."""
    read = tomllib.loads(path.read_text(encoding="utf-8"))
    return msgspec.convert(read.get("mutation", []), list[Accepted])


def mutants_of(target: Target, text: str) -> list[Mutant]:
    """Return every mutation of a module's text, in the order of the text."""
    return [Mutant(target, edit, *_changed_lines(text, edit)) for edit in edits_of(text)]


def chosen(mutants: Iterable[Mutant], paths: Sequence[str]) -> list[Mutant]:
    """Return the mutations in these files, folders or lines (`path:line`); without paths, all.

    A path starts at the checkout or at `src/pgs`. Raises `UnknownPath` for a path that has no
    mutation.
    """
    known = list(mutants)
    if not paths:
        return known
    picked: list[Mutant] = []
    for path in paths:
        found = [mutant for mutant in known if _is_under(mutant, path)]
        if not found:
            raise UnknownPath(path)
        picked += [mutant for mutant in found if mutant not in picked]
    return picked


def drawn(mutants: Sequence[Mutant], limit: int | None, seed: int) -> list[Mutant]:
    """Return `limit` of the mutations, drawn at random and kept in order; all without a limit."""
    if limit is None or limit >= len(mutants):
        return list(mutants)
    places = sorted(random.Random(seed).sample(range(len(mutants)), limit))
    return [mutants[place] for place in places]


def _is_under(mutant: Mutant, path: str) -> bool:
    path, _, line = path.partition(":")
    if line and line != str(mutant.edit.line):
        return False
    wanted = path.removeprefix("./").rstrip("/")
    return any(
        whole == wanted or whole.startswith(f"{wanted}/")
        for whole in (mutant.target.path, mutant.target.module)
    )


def _changed_lines(text: str, edit: Edit) -> tuple[str, str]:
    """Return the lines that an edit changes, joined into one: as they are, and as they become."""
    content = text.encode()
    start = content.rfind(b"\n", 0, edit.start) + 1
    end = content.find(b"\n", edit.end)
    end = len(content) if end < 0 else end
    now = content[start : edit.start] + edit.replacement + content[edit.end : end]
    return _one_line(content[start:end]), _one_line(now)


def _one_line(content: bytes) -> str:
    """Return lines of code as one line, without comments, which may be reworded at any time."""
    lines = (re.sub(r"\s+# .*$", "", line) for line in content.decode().splitlines())
    return " ".join(" ".join(lines).split())
