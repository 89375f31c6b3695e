import re

import msgspec
from hypothesis import assume, given
from hypothesis import strategies as st

from pgs.domain import base64url
from pgs.domain.environments import ENVIRONMENTS
from pgs.domain.keyring import KeyRing, RingKey, sign, with_new_key
from pgs.domain.keys import slot_of
from pgs.domain.sessions import (
    AHEAD_MAX,
    TOKEN_MAX,
    SessionClaims,
    is_expired,
    player_uid,
    read_session,
    sign_session,
)

RING = KeyRing((RingKey("k1", b"k" * 32),))
CLAIMS = SessionClaims("acme", "live", "chess", "p-1", "Ann Ö.", 1_700_000_000, 1_700_003_600, 4)
TOKEN = sign_session(CLAIMS, RING)

claims = st.builds(
    SessionClaims,
    partner_id=st.from_regex(r"[a-z][a-z0-9-]{2,31}", fullmatch=True),
    environment=st.sampled_from(ENVIRONMENTS),
    game_id=st.from_regex(r"[a-z0-9-]{1,32}", fullmatch=True),
    player_id=st.from_regex(r"[A-Za-z0-9_-]{1,64}", fullmatch=True),
    display_name=st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=64),
    issued_at=st.integers(0, 2**40),
    expires_at=st.integers(0, 2**40),
    generation=st.integers(0, 2**40),
)


@given(claims)
def test_a_signed_token_gives_its_claims_back(one: SessionClaims) -> None:
    token = sign_session(one, RING)
    assert read_session(token, RING) == one
    assert re.fullmatch(r"[A-Za-z0-9._~-]+", token)
    assert len(token) <= TOKEN_MAX


def test_a_token_with_every_name_at_its_bound_is_still_read() -> None:
    longest = SessionClaims(
        "a" * 32, "live", "g" * 32, "p" * 64, "\U0001f600" * 64, 2**53, 2**53, 2**53
    )
    ring = KeyRing((RingKey("k" * 16, b"k" * 32),))
    assert read_session(sign_session(longest, ring), ring) == longest


def test_a_token_begins_with_format_slot_and_key_name() -> None:
    assert TOKEN.split(".")[:3] == ["pgs1", slot_of("acme"), "k1"]
    assert len(TOKEN.split(".")) == 5


def test_a_tokens_mac_has_256_bits() -> None:
    assert len(base64url.decode(TOKEN.rpartition(".")[2]) or b"") == 32


@given(st.integers(0, len(TOKEN) - 1), st.sampled_from("ABCXYZabcxyz0189-_.~"))
def test_a_token_with_any_character_altered_is_refused(position: int, character: str) -> None:
    altered = TOKEN[:position] + character + TOKEN[position + 1 :]
    assume(altered != TOKEN)
    assert read_session(altered, RING) is None


def test_a_token_with_altered_spare_bits_is_refused() -> None:
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    assert [last for last in alphabet if read_session(TOKEN[:-1] + last, RING)] == [TOKEN[-1]]


@given(st.integers(0, len(TOKEN) - 1))
def test_a_token_cut_short_is_refused(length: int) -> None:
    assert read_session(TOKEN[:length], RING) is None


@given(st.text(max_size=80))
def test_no_text_makes_the_reader_raise(text: str) -> None:
    assert read_session(text, RING) is None
    assert read_session(f"pgs1.a3e.k1.{text}", RING) is None
    assert read_session(TOKEN + text, RING) == (None if text else CLAIMS)


def test_a_very_long_text_is_refused() -> None:
    assert read_session("pgs1.a3e.k1." + "A" * 10_000_000 + ".x", RING) is None


def test_another_ring_refuses_the_token_even_under_the_same_key_name() -> None:
    assert read_session(TOKEN, KeyRing((RingKey("k1", b"z" * 32),))) is None
    assert read_session(TOKEN, KeyRing((RingKey("k2", b"k" * 32),))) is None


def test_a_rotation_invalidates_no_token() -> None:
    ring = with_new_key(RING, bytes(6), b"n" * 32)
    assert read_session(TOKEN, ring) == CLAIMS
    assert sign_session(CLAIMS, ring).split(".")[2] == ring.current.kid != "k1"


def forged(slot: str, payload: bytes) -> str:
    """Return a token with a correct MAC over this payload, as another build might sign it."""
    head = f"pgs1.{slot}.k1.{base64url.encode(payload)}"
    return f"{head}.{sign(RING.current, 'session', head)}"


def test_a_signed_token_with_another_partners_slot_is_refused() -> None:
    payload = msgspec.msgpack.encode(CLAIMS)
    assert read_session(forged(slot_of("acme"), payload), RING) == CLAIMS
    assert read_session(forged(slot_of("other"), payload), RING) is None


def test_a_signed_token_with_a_payload_of_another_shape_is_refused() -> None:
    for payload in (
        b"",
        b"\xc1",
        msgspec.msgpack.encode({}),
        msgspec.msgpack.encode(["acme", "prod", "chess", "p", None, 1, 2, 3]),
    ):
        assert read_session(forged(slot_of("acme"), payload), RING) is None


def test_a_mac_for_another_purpose_is_no_session_mac() -> None:
    head = TOKEN.rpartition(".")[0]
    assert read_session(f"{head}.{sign(RING.current, 'cursor', head)}", RING) is None


def test_a_token_expires_at_its_expiry_second() -> None:
    assert not is_expired(CLAIMS, CLAIMS.expires_at - 1)
    assert is_expired(CLAIMS, CLAIMS.expires_at)


def test_a_token_from_the_future_is_not_valid() -> None:
    assert not is_expired(CLAIMS, CLAIMS.issued_at - AHEAD_MAX)
    assert is_expired(CLAIMS, CLAIMS.issued_at - AHEAD_MAX - 1)


def test_the_same_player_id_in_two_environments_is_two_players() -> None:
    assert player_uid(CLAIMS) == "ptr:live:acme:p-1"
    assert player_uid(msgspec.structs.replace(CLAIMS, environment="test")) == "ptr:test:acme:p-1"
