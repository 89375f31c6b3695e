"""Which shards a node takes and gives, from one look at the other nodes to the next."""

from collections.abc import Collection, Mapping

from pgs.domain.leases import Beat
from pgs.domain.shards import SHARDS, Node, share_out
from pgs.storage.postgres.lease import Look, Seen
from pgs.storage.postgres.shard_sharing import GIVE_MAX, READY_BEATS, RETURN_S, Sharing

EVEN = share_out({}, {"n1", "n2"})
TURNED = {shard: "n2" if name == "n1" else "n1" for shard, name in EVEN.items()}
"""Even shares, each with the other node: shares that only nodes which remember them come to."""


def look(owners: Mapping[int, str], **beats: int) -> Look:
    """Return a look at nodes with these numbers of beats."""
    nodes = (
        Seen(Node(name, f"{name}:8000"), Beat(name, 1, count), "up", 7)
        for name, count in beats.items()
    )
    return Look(tuple(nodes), owners)


def of(name: str, shares: Mapping[int, str]) -> set[int]:
    return {shard for shard, owner in shares.items() if owner == name}


def given(sharing: Sharing, seen: Look, own: Collection[int]) -> list[int]:
    """Return which shards the node n1 should hand over now, if it is handing none over yet."""
    takers = {node.node.name for node in seen.nodes}
    return sharing.to_give(seen, sharing.shares(seen, takers, 9.0), own, set())


def test_a_new_session_takes_the_shards_that_the_node_owned_before() -> None:
    sharing = Sharing("n1")
    sharing.note(look(TURNED, n1=5, n2=5))
    sharing.begin(10.0)
    nobody = look({}, n1=1, n2=5)  # n2 has no session yet
    sharing.note(nobody)
    assert of("n1", sharing.shares(nobody, {"n1"}, 10.0 + RETURN_S / 2)) == of("n1", TURNED)
    assert of("n1", sharing.shares(nobody, {"n1", "n2"}, 10.5)) == of("n1", TURNED)


def test_shards_of_a_node_that_does_not_come_back_are_taken_a_little_later() -> None:
    sharing = Sharing("n1")
    sharing.note(look(TURNED, n1=5, n2=5))
    sharing.begin(10.0)
    nobody = look({}, n1=1, n2=5)
    assert len(of("n1", sharing.shares(nobody, {"n1"}, 10.0 + RETURN_S))) == SHARDS


def test_no_shard_is_left_to_a_former_owner_that_is_drained_or_unknown() -> None:
    sharing = Sharing("n1")
    sharing.note(look(TURNED, n1=5, n2=5))
    sharing.begin(10.0)
    one, two = look({}, n1=1, n2=5).nodes
    drained = Look((one, Seen(two.node, two.beat, "draining", 8)), {})
    assert len(of("n1", sharing.shares(drained, {"n1"}, 10.0))) == SHARDS
    alone = Sharing("n1")
    alone.begin(10.0)
    assert len(of("n1", alone.shares(look({}, n1=1), {"n1"}, 10.0))) == SHARDS


def test_a_node_is_given_shards_once_it_has_made_enough_beats() -> None:
    sharing, own = Sharing("n1"), range(SHARDS)
    owners = dict.fromkeys(own, "n1")
    assert given(sharing, look(owners, n1=9, n2=READY_BEATS - 1), own) == []
    assert len(given(sharing, look(owners, n1=9, n2=READY_BEATS), own)) == GIVE_MAX


def test_no_more_shards_are_given_than_the_other_nodes_have_taken() -> None:
    sharing = Sharing("n1")
    own = set(range(SHARDS))
    owners = dict.fromkeys(own, "n1")
    first = given(sharing, look(owners, n1=9, n2=9), own)
    for shard in first:
        sharing.gave(shard)
        own.discard(shard)
    late = look(owners, n1=9, n2=9)  # it began before the shards were unlocked
    sharing.note(late)
    assert given(sharing, late, own) == []
    some = {**dict.fromkeys(own, "n1"), **dict.fromkeys(first[:3], "n2")}
    sharing.note(look(some, n1=9, n2=9))
    second = given(sharing, look(some, n1=9, n2=9), own)
    assert len(second) == 3
    sharing.took(first[3:])  # nobody else wanted them
    assert len(given(sharing, look(some, n1=9, n2=9), own)) == GIVE_MAX


def test_shards_given_in_an_earlier_session_do_not_count_in_a_new_one() -> None:
    sharing, own = Sharing("n1"), range(SHARDS)
    for shard in range(GIVE_MAX):
        sharing.gave(shard)
    seen = look(dict.fromkeys(own, "n1"), n1=9, n2=9)
    assert given(sharing, seen, own) == []
    sharing.begin(1.0)
    assert len(given(sharing, seen, own)) == GIVE_MAX
