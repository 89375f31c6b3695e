"""How long a process waits for shards that its own earlier sessions may have taken."""

import pytest

from pgs.domain import leases
from pgs.domain.leases import Beat, Last, Sightings
from pgs.storage.postgres.shard_holds import Holds


def test_a_shard_that_a_session_may_have_taken_is_waited_for_as_long_as_a_node_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(leases, "HOLD_S", 60.0)
    holds = Holds()
    holds.begin(7)
    holds.asked([3], 10.0)
    assert holds.starts(Sightings(), {3: Last(Beat("n1", 7, 1), 1)}, 12.0) == {3: 70.0}
