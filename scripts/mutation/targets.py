"""The modules that are mutated, and the tests that should notice a mutation of each."""

from pathlib import Path

import msgspec

SOURCE = "src/pgs"
_LEDGER = ("tests/storage/test_ledger*.py",)
_WRITER = "tests/storage/test_writer_*.py"

# Tests by module. For a module in `domain`, the test file of the same name runs before these.
_TESTS = {
    "domain/socket_frames.py": ("tests/http/test_sockets*.py", "tests/actors/**/test_table*.py"),
    "domain/ledger.py": _LEDGER,
    "domain/readiness.py": ("tests/actors/test_readiness.py",),
    "domain/secrets.py": ("tests/domain/test_keys.py", "tests/domain/test_sessions.py"),
    "storage/ledger.py": _LEDGER,
    "storage/transactions.py": (_WRITER, "tests/storage/test_reader.py"),
    "storage/sqlite/commits.py": (_WRITER,),
    "storage/writer.py": (_WRITER,),
}


class Target(msgspec.Struct, frozen=True):
    """A module, from `src/pgs`, and the tests that should notice a mutation of it."""

    module: str
    tests: tuple[str, ...]

    @property
    def path(self) -> str:
        """The module's path in the checkout."""
        return f"{SOURCE}/{self.module}"


def all_targets(root: Path) -> list[Target]:
    """Return every module that is mutated: all rules, the ledger and the writer."""
    domain = (root / SOURCE / "domain").glob("*.py")
    rules = {f"domain/{path.name}" for path in domain if path.name != "__init__.py"}
    return [Target(module, _tests_of(module, root)) for module in sorted(rules | _TESTS.keys())]


def _tests_of(module: str, root: Path) -> tuple[str, ...]:
    room, _, name = module.partition("/")
    patterns = [f"tests/domain/test_{name}"] if room == "domain" else []
    patterns += _TESTS.get(module, ())
    found = [path for pattern in patterns for path in sorted(root.glob(pattern))]
    return tuple(str(path.relative_to(root)) for path in found)
