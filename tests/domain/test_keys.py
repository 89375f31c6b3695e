import hashlib
import zlib
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pgs.domain import keys
from pgs.domain.environments import ENVIRONMENTS, Environment
from pgs.domain.keys import ALPHABET, ParsedKey, make_key, parse_bearer, parse_key

entropy = st.binary(min_size=keys.ENTROPY_BYTES, max_size=keys.ENTROPY_BYTES)
environments: st.SearchStrategy[Environment] = st.sampled_from(ENVIRONMENTS)
partner_ids = st.from_regex(r"[a-z][a-z0-9-]{2,31}", fullmatch=True)

KEY = make_key("live", "acme", bytes(range(36)))


def test_a_key_has_its_prefix_and_46_characters_in_three_parts() -> None:
    assert KEY.startswith("pgs_live_" + f"{zlib.crc32(b'acme') % 4096:03x}")
    assert len(KEY) == len("pgs_live_") + 46
    assert set(KEY[9:]) <= set(ALPHABET)


def test_the_checksum_is_the_crc32_of_everything_before_it_in_base62() -> None:
    value = 0
    for character in KEY[-6:]:
        value = value * 62 + ALPHABET.index(character)
    assert value == zlib.crc32(KEY[:-6].encode())


def test_the_alphabet_runs_digits_upper_case_lower_case() -> None:
    assert "".join(sorted(ALPHABET)) == ALPHABET
    assert len(ALPHABET) == 62


def test_the_smallest_random_number_is_padded_to_its_width() -> None:
    assert make_key("test", "acme", bytes(36))[12:49] == "0" * 37


@given(environments, partner_ids, entropy)
def test_every_key_made_is_read_back(
    environment: Environment, partner_id: str, seed: bytes
) -> None:
    assert parse_key(make_key(environment, partner_id, seed)) == ParsedKey(
        environment, keys.slot_of(partner_id)
    )


@given(entropy, st.integers(0, 54), st.sampled_from(ALPHABET))
def test_a_key_with_one_character_changed_is_refused(
    seed: bytes, position: int, character: str
) -> None:
    key = make_key("test", "acme", seed)
    altered = key[:position] + character + key[position + 1 :]
    assume(altered != key)
    assert parse_key(altered) is None


@given(entropy, st.integers(0, 53))
def test_a_key_with_two_neighbours_swapped_is_refused(seed: bytes, position: int) -> None:
    key = make_key("test", "acme", seed)
    altered = key[:position] + key[position + 1] + key[position] + key[position + 2 :]
    assume(altered != key)
    assert parse_key(altered) is None


def test_a_key_of_one_environment_is_no_key_of_the_other() -> None:
    assert parse_key(KEY.replace("pgs_live_", "pgs_test_")) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "pgs_live_",
        KEY[:-1],
        KEY + "0",
        KEY + "\n",
        " " + KEY,
        KEY.upper(),
        KEY[:-1] + "\uff10",
        KEY[:-1] + "\ud800",
        "\0" * 55,
        KEY * 1000,
    ],
)
def test_other_texts_are_no_keys(text: str) -> None:
    assert parse_key(text) is None


@given(st.text(min_size=50, max_size=60))
def test_no_text_makes_the_parser_raise(text: str) -> None:
    assert parse_key(text) is None


@given(st.lists(entropy, min_size=2, max_size=2, unique=True))
def test_different_entropy_gives_different_keys(seeds: list[bytes]) -> None:
    assume((int.from_bytes(seeds[0], "big") - int.from_bytes(seeds[1], "big")) % 62**37 != 0)
    assert make_key("live", "acme", seeds[0]) != make_key("live", "acme", seeds[1])


def test_all_37_random_characters_take_every_value() -> None:
    chance = Random(1)
    drawn = [
        make_key("live", "acme", chance.randbytes(keys.ENTROPY_BYTES))[12:49] for _ in range(1500)
    ]
    assert [set(column) for column in zip(*drawn, strict=True)] == [set(ALPHABET)] * 37


def test_a_key_is_made_from_exactly_its_number_of_random_bytes() -> None:
    with pytest.raises(ValueError, match="36 bytes"):
        make_key("live", "acme", bytes(35))


def test_the_slot_of_a_partner_is_three_hex_digits_and_never_changes() -> None:
    # Keys in use contain these slots, so the formula must never change.
    assert keys.slot_of("acme") == "a3e"
    assert keys.slot_of("load-0001") == f"{zlib.crc32(b'load-0001') % 4096:03x}"


def test_a_key_is_stored_only_as_its_sha256() -> None:
    assert keys.hash_key(KEY) == hashlib.sha256(KEY.encode()).hexdigest()


def test_people_tell_keys_apart_by_their_last_four_characters() -> None:
    assert keys.last4(KEY) == KEY[-4:]


@pytest.mark.parametrize(
    "header", [b"Bearer abc", b"bearer abc", b"BEARER abc", b"bEaReR   abc", "Bearer abc"]
)
def test_the_bearer_scheme_is_read_in_any_case_and_with_any_number_of_spaces(
    header: bytes | str,
) -> None:
    assert parse_bearer(header) == "abc"


@pytest.mark.parametrize("token", [KEY, "pgs1.a3e.k1.x-y_z.mac", "eyJ.eyJ9.c2ln", "a~b+c/d=="])
def test_keys_session_tokens_and_identity_tokens_all_travel_as_bearer(token: str) -> None:
    assert parse_bearer(f"Bearer {token}".encode()) == token


@pytest.mark.parametrize(
    "header",
    [
        None,
        b"",
        b"Bearer",
        b"Bearer ",
        b"abc",
        b"Basic abc",
        b"Bearerabc",
        b"Bearer\tabc",
        b"Bearer abc def",
        b"Bearer abc,Bearer def",
        b"Bearer =",
        b"Bearer a\xe9",
        b"Bearer abc\n",
        "Bearer äbc",
        "\u212aearer abc",
    ],
)
def test_a_header_that_is_no_single_bearer_credential_is_refused(
    header: bytes | str | None,
) -> None:
    assert parse_bearer(header) is None
