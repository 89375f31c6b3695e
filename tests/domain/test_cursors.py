import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pgs.domain import base64url
from pgs.domain.cursors import CURSOR_MAX, make_cursor, read_cursor
from pgs.domain.environments import ENVIRONMENTS, Environment
from pgs.domain.keyring import KeyRing, RingKey, with_new_key

RING = KeyRing((RingKey("k1", b"k" * 32),))
CURSOR = make_cursor(RING, "results", "acme", "live", 1234)

positions = st.integers(-(2**63), 2**63 - 1) | st.text(st.characters(codec="ascii"), max_size=64)


def read(text: str) -> str | int | None:
    return read_cursor(RING, text, "results", "acme", "live")


@given(st.sampled_from(["results", "invoices", "events"]), st.sampled_from(ENVIRONMENTS), positions)
def test_a_cursor_gives_its_position_back_with_its_type(
    kind: str, environment: Environment, position: str | int
) -> None:
    cursor = make_cursor(RING, kind, "acme", environment, position)
    found = read_cursor(RING, cursor, kind, "acme", environment)
    assert found == position
    assert type(found) is type(position)
    assert re.fullmatch(r"[A-Za-z0-9._-]+", cursor)
    assert len(cursor) <= CURSOR_MAX


def test_a_cursor_that_a_partner_has_kept_stays_valid() -> None:
    kept = "pgc1.k1.lKdyZXN1bHRzpGFjbWWkbGl2Zc0E0g.j3G3hVKXFTw-4PWBrb6dhw"
    assert kept == CURSOR
    assert read(kept) == 1234


@pytest.mark.parametrize(
    ("kind", "partner_id", "environment"),
    [("invoices", "acme", "live"), ("results", "acne", "live"), ("results", "acme", "test")],
)
def test_a_cursor_serves_one_list_of_one_partner_in_one_environment(
    kind: str, partner_id: str, environment: Environment
) -> None:
    assert read_cursor(RING, CURSOR, kind, partner_id, environment) is None


@given(st.integers(0, len(CURSOR) - 1), st.sampled_from("ABCXYZabcxyz0189-_.="))
def test_a_cursor_with_any_character_altered_is_refused(position: int, character: str) -> None:
    altered = CURSOR[:position] + character + CURSOR[position + 1 :]
    assume(altered != CURSOR)
    assert read(altered) is None


def test_no_two_spellings_of_a_cursor_are_accepted() -> None:
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    for position in range(len(CURSOR)):
        accepted = [
            one
            for one in alphabet
            if read(CURSOR[:position] + one + CURSOR[position + 1 :]) is not None
        ]
        assert accepted in ([CURSOR[position]], [])


def test_a_cursors_mac_has_128_bits() -> None:
    assert len(base64url.decode(CURSOR.rpartition(".")[2]) or b"") == 16


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        CURSOR + "=",
        CURSOR + " ",
        " " + CURSOR,
        CURSOR + "\n",
        CURSOR[:-1],
        CURSOR + ".x",
        "A" * 100_000,
    ],
)
def test_other_texts_are_no_cursors(text: str) -> None:
    assert read(text) is None


@given(st.text(max_size=60))
def test_no_text_makes_the_reader_raise(text: str) -> None:
    assert read(text) is None
    assert read(f"pgc1.k1.{text}") is None


def test_position_zero_is_valid() -> None:
    assert read(make_cursor(RING, "results", "acme", "live", 0)) == 0
    assert read(make_cursor(RING, "results", "acme", "live", "")) == ""


def test_a_rotation_invalidates_no_cursor() -> None:
    ring = with_new_key(RING, bytes(6), b"n" * 32)
    assert read_cursor(ring, CURSOR, "results", "acme", "live") == 1234


def test_another_ring_refuses_the_cursor() -> None:
    assert (
        read_cursor(KeyRing((RingKey("k1", b"z" * 32),)), CURSOR, "results", "acme", "live") is None
    )
