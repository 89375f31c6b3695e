from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from pgs.domain.keys import SLOTS, slot_of
from pgs.domain.shards import SHARDS, shard_of, shard_of_slot, share_out

names = st.sampled_from([f"n{number}" for number in range(9)])
nodes = st.sets(names, min_size=1, max_size=8)
owners = st.dictionaries(st.integers(0, SHARDS - 1), names)


def moves(before: dict[int, str], after: dict[int, str]) -> int:
    return sum(before.get(shard) != node for shard, node in after.items())


@given(st.from_regex(r"[a-z][a-z0-9-]{2,31}", fullmatch=True))
def test_the_slot_in_a_credential_leads_to_the_partners_shard(partner_id: str) -> None:
    assert shard_of_slot(slot_of(partner_id)) == shard_of(partner_id)


def test_every_shard_has_the_same_number_of_slots() -> None:
    shards = Counter(shard_of_slot(f"{slot:03x}") for slot in range(SLOTS))
    assert shards == dict.fromkeys(range(SHARDS), SLOTS // SHARDS)


@given(st.text(max_size=4))
def test_a_text_that_is_no_slot_has_no_shard(text: str) -> None:
    is_slot = len(text) == 3 and all(digit in "0123456789abcdef" for digit in text)
    assert (shard_of_slot(text) is not None) == is_slot


@given(owners, nodes)
def test_every_shard_goes_to_a_node_and_the_shares_of_two_nodes_differ_by_at_most_one(
    owners: dict[int, str], nodes: set[str]
) -> None:
    shares = share_out(owners, nodes)
    assert sorted(shares) == list(range(SHARDS))
    numbers = [list(shares.values()).count(node) for node in nodes]
    assert sum(numbers) == SHARDS
    assert max(numbers) - min(numbers) <= 1


@given(owners, nodes)
def test_shards_that_are_in_their_place_do_not_move(
    owners: dict[int, str], nodes: set[str]
) -> None:
    shares = share_out(owners, nodes)
    assert share_out(shares, nodes) == shares


@given(owners, nodes)
def test_no_more_shards_move_than_an_even_division_needs(
    owners: dict[int, str], nodes: set[str]
) -> None:
    # With k nodes, the one that holds the i-th most gets the i-th largest share.
    held = sorted((list(owners.values()).count(node) for node in nodes), reverse=True)
    fewest, larger = divmod(SHARDS, len(nodes))
    staying = sum(min(number, fewest + (i < larger)) for i, number in enumerate(held))
    assert moves(owners, share_out(owners, nodes)) == SHARDS - staying


@given(nodes, names)
def test_a_node_that_joins_takes_its_share_and_nothing_else_moves(
    nodes: set[str], joining: str
) -> None:
    before = share_out({}, nodes - {joining} or {"other"})
    after = share_out(before, set(before.values()) | {joining})
    assert all(node in (before[shard], joining) for shard, node in after.items())


@given(nodes, names)
def test_a_node_that_is_drained_gives_all_its_shards_and_no_other_shard_moves(
    nodes: set[str], leaving: str
) -> None:
    before = share_out({}, nodes | {leaving, "other"})
    after = share_out(before, (nodes | {"other"}) - {leaving})
    assert leaving not in after.values()
    assert all(after[shard] == node for shard, node in before.items() if node != leaving)


@given(owners, nodes)
def test_a_shard_that_is_being_handed_over_keeps_its_target(
    owners: dict[int, str], nodes: set[str]
) -> None:
    # While a shard is handed over nobody owns it. If one node joins, all nodes that look then still
    # give the shard to it.
    before = share_out(owners, nodes)
    after = share_out(before, nodes | {"new"})
    moving = [shard for shard, node in after.items() if node != before[shard]]
    for shard in moving:
        halfway = {other: node for other, node in before.items() if other != shard}
        assert share_out(halfway, nodes | {"new"})[shard] == "new"


def test_without_a_node_nobody_owns_anything() -> None:
    assert share_out({1: "n1"}, []) == {}
