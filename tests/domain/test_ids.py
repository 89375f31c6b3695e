import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs.domain import ids

entropy = st.binary(min_size=ids.ENTROPY_BYTES, max_size=ids.ENTROPY_BYTES)
prefixes = st.sampled_from(ids.PREFIXES)


def test_an_id_is_its_prefix_the_millisecond_and_the_entropy_in_hex() -> None:
    text = ids.new_id(ids.MATCH, 1_800_000_000_123, bytes(range(10)))
    assert text == "mat_01a3185c507b00010203040506070809"


times_ms = st.integers(0, 2**48 - 2000)


@given(times_ms, entropy, entropy)
def test_ids_of_a_later_millisecond_sort_behind_earlier_ones(
    at_ms: int, one: bytes, other: bytes
) -> None:
    assert ids.new_id(ids.SEAT, at_ms, one) < ids.new_id(ids.SEAT, at_ms + 1, other)


@given(times_ms, entropy)
def test_the_ids_of_a_second_stand_between_two_texts(at_ms: int, seed: bytes) -> None:
    text, second = ids.new_id(ids.SEAT, at_ms, seed), at_ms // 1000
    assert ids.first_id(ids.SEAT, second) <= text < ids.first_id(ids.SEAT, second + 1)
    assert ids.made_at(text) == second


@given(times_ms, entropy)
def test_a_new_id_is_valid_whenever_it_is_made(at_ms: int, seed: bytes) -> None:
    assert ids.is_id(ids.SEAT, ids.new_id(ids.SEAT, at_ms, seed))


def test_no_two_nouns_share_a_prefix() -> None:
    assert len(set(ids.PREFIXES)) == len(ids.PREFIXES) == 10


def test_prefixes_do_not_change_because_partners_store_ids() -> None:
    assert " ".join(ids.PREFIXES) == "mat sea inv lin key ivt att ndg evt req"


@given(prefixes, entropy)
def test_every_new_id_has_the_shape_of_its_noun_and_of_no_other(prefix: str, seed: bytes) -> None:
    text = ids.new_id(prefix, 1, seed)
    assert [other for other in ids.PREFIXES if ids.is_id(other, text)] == [prefix]
    assert len(text) <= 64
    assert text.isascii()


@given(entropy, entropy)
def test_different_entropy_gives_different_ids(one: bytes, other: bytes) -> None:
    assert (ids.new_id(ids.SEAT, 1, one) == ids.new_id(ids.SEAT, 1, other)) == (one == other)


@pytest.mark.parametrize("size", [0, 9, 11])
def test_an_id_is_made_from_exactly_its_number_of_random_bytes(size: int) -> None:
    with pytest.raises(ValueError, match="10 bytes"):
        ids.new_id(ids.SEAT, 1, bytes(size))


def test_an_id_is_made_with_a_known_prefix_only() -> None:
    with pytest.raises(ValueError, match="known prefix"):
        ids.new_id("usr", 1, bytes(10))
    with pytest.raises(ValueError, match="known prefix"):
        ids.Ids(lambda: 1, bytes).new("usr")


def test_random_bytes_that_are_drawn_together_are_used_once_and_in_order() -> None:
    draws: list[bytes] = []

    def draw(count: int) -> bytes:
        draws.append(bytes(len(draws) + at % 251 for at in range(count)))
        return draws[-1]

    times = itertools.count(1)
    source = ids.Ids(lambda: next(times), draw)
    made = [source.new(ids.SEAT) for _ in range(2 * ids.DRAWN_TOGETHER)]
    assert len(draws) == 2
    drawn = b"".join(draws)
    assert made == [
        ids.new_id(ids.SEAT, number + 1, drawn[10 * number : 10 * number + 10])
        for number in range(2 * ids.DRAWN_TOGETHER)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "mat_",
        "mat",
        "0" * 32,
        "mat_" + "0" * 31,
        "mat_" + "0" * 33,
        "mat_" + "A" * 32,
        "mat_" + "0" * 32 + "\n",
        "MAT_" + "0" * 32,
        "xmat_" + "0" * 32,
        "mat_" + "\uff10" * 32,
        "mat_" + "g" * 32,
    ],
)
def test_other_texts_are_no_ids(text: str) -> None:
    assert not ids.is_id(ids.MATCH, text)
