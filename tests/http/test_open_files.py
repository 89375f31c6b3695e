"""How many connections a listener takes, of the files that the process may open."""

import resource

import pytest

from pgs.http.nodes import connections
from pgs.http.outbound.kept_connections import KEPT_MAX
from pgs.http.transport.limits import RESERVED_FILES, connections_within
from pgs.http.transport.server import room_for


@pytest.mark.parametrize(
    ("files", "room"), [(1, 1), (1024, 512), (3072, 1536), (4096, 2560), (11_536, 10_000)]
)
def test_clients_leave_reserved_files_or_half_of_all_to_others(files: int, room: int) -> None:
    assert connections_within(files) == room


def test_connections_to_endpoints_and_to_nodes_leave_reserved_files_to_others() -> None:
    """The database, the log and the nudges that are on their way need them."""
    to_nodes = connections.CONNECTIONS_MAX + connections.KEPT_MAX
    assert (KEPT_MAX, to_nodes) == (256, 544), "the comment of RESERVED_FILES names both"
    assert KEPT_MAX + to_nodes + 512 <= RESERVED_FILES


@pytest.mark.parametrize(
    ("limits", "room", "raised"),
    [
        ((1024, 1_048_576), 10_000, 21_536),
        ((1024, 4096), 2560, 4096),
        ((65_536, 65_536), 10_000, None),
    ],
)
def test_a_listener_lets_the_process_open_files_for_clients_and_for_what_it_forwards(
    limits: tuple[int, int], room: int, raised: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda what: limits)
    monkeypatch.setattr(resource, "setrlimit", lambda what, both: asked.append(both))
    assert room_for(10_000) == room
    assert asked == ([] if raised is None else [(raised, limits[1])])
