import hashlib
import hmac
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.pretty import pretty_repr

from pgs.domain import base64url, keyring
from pgs.domain.keyring import (
    KeyRing,
    RingKey,
    derive,
    format_ring,
    new_ring,
    parse_ring,
    same,
    sign,
    with_new_key,
)

secrets_ = st.binary(min_size=32, max_size=32)
kids = st.from_regex(r"[a-z0-9]{1,16}", fullmatch=True)
rings = st.lists(
    st.builds(RingKey, kids, secrets_), min_size=1, max_size=5, unique_by=lambda key: key.kid
).map(lambda keys: KeyRing(tuple(keys)))

OLD = RingKey("old", b"o" * 32)
NEW = RingKey("new", b"n" * 32)
RING = KeyRing((NEW, OLD))


def test_the_current_key_comes_first_and_all_are_found_by_name() -> None:
    assert RING.current == NEW
    assert RING.find("old") == OLD
    assert RING.find("older") is None


def test_a_new_key_becomes_the_first_and_the_others_stay() -> None:
    ring = with_new_key(RING, bytes(6), b"x" * 32)
    assert ring.keys == (RingKey("000000000000", b"x" * 32), NEW, OLD)


@given(rings)
def test_a_ring_comes_back_from_its_file(ring: KeyRing) -> None:
    assert parse_ring(format_ring(ring)) == ring


def test_the_file_names_its_format_and_has_one_line_per_key() -> None:
    assert format_ring(RING).splitlines()[0] == "pgs-keyring 1"
    assert [line.split(" ")[0] for line in format_ring(RING).splitlines()[1:]] == ["new", "old"]


FILE = format_ring(RING)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "pgs-keyring 1\n",
        FILE[:-1],
        FILE[:-2] + "\n",
        FILE.replace("ring 1", "ring 2"),
        FILE.replace("\n", "\r\n"),
        FILE.replace("new ", "new  "),
        FILE.replace("new ", "New "),
        FILE.replace("new ", "old "),
        FILE + "\n",
        FILE + "third\n",
        "pgs-keyring 1\n" + "".join(f"k{n} {'A' * 43}\n" for n in range(65)),
    ],
)
def test_a_damaged_file_is_refused_without_quoting_it(text: str) -> None:
    with pytest.raises(ValueError, match=r"key ring|ring key") as caught:
        parse_ring(text)
    assert "bm5u" not in str(caught.value)


def test_the_error_about_a_damaged_file_gives_the_line_number() -> None:
    with pytest.raises(ValueError, match=r"^line 3 of the key ring "):
        parse_ring(FILE.replace("old ", "Old "))


@pytest.mark.parametrize(
    ("kid", "secret"),
    [
        ("", b"x" * 32),
        ("A", b"x" * 32),
        ("a" * 17, b"x" * 32),
        ("a\n", b"x" * 32),
        ("a", b"x" * 31),
    ],
)
def test_a_key_has_a_short_name_and_32_bytes(kid: str, secret: bytes) -> None:
    with pytest.raises(ValueError, match="ring key"):
        RingKey(kid, secret)


def test_a_ring_is_never_empty_and_has_no_name_twice() -> None:
    with pytest.raises(ValueError, match="key ring"):
        KeyRing(())
    with pytest.raises(ValueError, match="key ring"):
        KeyRing((OLD, OLD))


def test_a_new_ring_is_made_from_exactly_its_number_of_random_bytes() -> None:
    assert (
        new_ring(bytes(keyring.KID_ENTROPY_BYTES), b"x" * keyring.SECRET_BYTES).current.kid
        == "0" * 12
    )
    with pytest.raises(ValueError, match="6 random bytes"):
        new_ring(bytes(5), b"x" * 32)


@pytest.mark.parametrize("show", [repr, str, pretty_repr, "{}".format])
def test_no_rendering_of_a_ring_shows_a_secret(show: Callable[[object], str]) -> None:
    shown = show(RING)
    assert "new" in shown
    assert "nnnn" not in shown
    assert "oooo" not in shown


def test_every_purpose_and_every_key_yields_its_own_bytes() -> None:
    derived = {
        derive(key, purpose) for key in (OLD, NEW) for purpose in ("session", "cursor", "sealed")
    }
    assert len(derived) == 6
    assert all(len(one) == 32 for one in derived)
    assert not derived & {OLD.secret, NEW.secret}


def test_keys_are_derived_with_hkdf_so_any_library_derives_the_same() -> None:
    # Computed by hand from RFC 5869: extract with a zero salt, expand with the purpose and a 1.
    extracted = hmac.digest(bytes(32), OLD.secret, hashlib.sha256)
    assert derive(OLD, "cursor") == hmac.digest(extracted, b"cursor\x01", hashlib.sha256)


def test_a_mac_depends_on_key_purpose_and_text() -> None:
    macs = {sign(OLD, "a", "x"), sign(NEW, "a", "x"), sign(OLD, "b", "x"), sign(OLD, "a", "y")}
    assert len(macs) == 4
    assert sign(OLD, "a", "x", 16) != sign(OLD, "a", "x")
    assert len(sign(OLD, "a", "x", 16)) == 22


@given(text=st.text(st.characters(max_codepoint=127)), size=st.integers(1, 32))
def test_a_mac_is_the_hmac_that_any_library_makes(text: str, size: int) -> None:
    key = RingKey("k1", b"s" * 32)
    mac = hmac.digest(derive(key, "session"), text.encode("ascii"), hashlib.sha256)
    assert base64url.decode(sign(key, "session", text, size)) == mac[:size]


def test_texts_are_compared_whole_even_outside_ascii() -> None:
    assert same("abc", "abc")
    assert not same("abc", "abd")
    assert not same("abc", "abcd")
    assert not same("abc", "ab\u0441")
    assert not same("abc", "\udc80")
