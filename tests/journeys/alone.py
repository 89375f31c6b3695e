"""The journeys that do not run on every kind of installation, each with the reason."""

from collections.abc import Collection, Mapping
from typing import Final

_NODES: Final = "starts its own nodes: it is about nodes that come, go and fail"
_PROCESS: Final = "is about one process: its files, its lock, its signals, its standard streams"

ALONE: Final[Mapping[str, str]] = {
    "test_alone_again.py": _NODES,
    "test_installation.py": _NODES,
    "test_installation_churn.py": _NODES,
    "test_installation_commands.py": _NODES,
    "test_installation_keyring.py": _NODES,
    "test_node_metrics.py": _NODES,
    "test_nodes.py": _NODES,
    "test_postgres.py": "is about a PostgreSQL that crashes and comes back",
    "test_log_stream.py": _PROCESS,
    "test_process.py": _PROCESS,
    "test_restore.py": "is about backups of a file; those of a server are its operator's",
    "test_start.py": _PROCESS,
    "test_unserved.py": _NODES,
}
"""By file, or by file and test (`test_x.py::test_name`)."""

_FOLDERS: Final = frozenset({"tmp_path", "tmp_path_factory"})


def complain(file: str, test: str, fixtures: Collection[str]) -> str | None:
    """Return what is wrong with a test that runs on these fixtures, or None.

    A test without a folder starts no service.
    """
    is_alone = file in ALONE or f"{file}::{test}" in ALONE
    if "installation" in fixtures:
        return "it runs on every kind of installation: take it off the list" if is_alone else None
    if is_alone or _FOLDERS.isdisjoint(fixtures):
        return None
    return "it runs on one kind of installation: use `place`, or list it in tests/journeys/alone.py"
