import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pgs.domain.keyring import KeyRing, RingKey, with_new_key
from pgs.domain.sealed import NONCE_BYTES, open_sealed, seal

RING = KeyRing((RingKey("k1", b"k" * 32),))
NONCE = bytes(range(NONCE_BYTES))
CONTEXT = "acme|live|webhook"
SEALED = seal(RING, b"whsec_secret", CONTEXT, NONCE)


@given(st.binary(max_size=200), st.text(max_size=40), st.binary(min_size=12, max_size=12))
def test_a_sealed_secret_opens_in_its_context(secret: bytes, context: str, nonce: bytes) -> None:
    assert open_sealed(RING, seal(RING, secret, context, nonce), context) == secret


@pytest.mark.parametrize(
    "context", ["acme|test|webhook", "acne|live|webhook", "acme|live|totp", "", CONTEXT + " "]
)
def test_a_secret_moved_to_another_place_does_not_open(context: str) -> None:
    assert open_sealed(RING, SEALED, context) is None


@given(st.integers(0, len(SEALED) - 1), st.sampled_from("ABCabc012-_."))
def test_a_sealed_secret_with_an_altered_character_does_not_open(
    position: int, character: str
) -> None:
    altered = SEALED[:position] + character + SEALED[position + 1 :]
    assume(altered != SEALED)
    assert open_sealed(RING, altered, CONTEXT) is None


@given(st.text(max_size=60))
def test_other_texts_are_not_opened_and_raise_nothing(text: str) -> None:
    assert open_sealed(RING, text, CONTEXT) is None
    assert open_sealed(RING, f"pgse1.k1.{text}", CONTEXT) is None


def test_a_sealed_text_does_not_show_its_secret() -> None:
    assert SEALED.startswith("pgse1.k1.")
    assert "whsec" not in SEALED
    assert seal(RING, b"whsec_secret", CONTEXT, bytes(12)) != SEALED


def test_a_rotation_leaves_stored_secrets_readable_and_seals_with_the_new_key() -> None:
    ring = with_new_key(RING, bytes(6), b"n" * 32)
    assert open_sealed(ring, SEALED, CONTEXT) == b"whsec_secret"
    newer = seal(ring, b"x", CONTEXT, NONCE)
    assert open_sealed(ring, newer, CONTEXT) == b"x"
    assert open_sealed(RING, newer, CONTEXT) is None


def test_a_key_of_the_same_name_with_another_secret_opens_nothing() -> None:
    assert open_sealed(KeyRing((RingKey("k1", b"z" * 32),)), SEALED, CONTEXT) is None


@pytest.mark.parametrize("size", [0, 11, 13])
def test_a_nonce_of_another_size_is_refused(size: int) -> None:
    with pytest.raises(ValueError, match="12 bytes"):
        seal(RING, b"x", CONTEXT, bytes(size))
