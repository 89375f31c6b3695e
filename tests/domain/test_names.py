from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs.domain import names

CHECKS = [
    names.is_partner_id,
    names.is_tier_id,
    names.is_player_id,
    names.is_idempotency_key,
]


@pytest.mark.parametrize("text", ["abc", "a" * 32, "load-0001", "a--", "testing", "live2"])
def test_partner_ids_are_3_to_32_lower_case_letters_digits_and_hyphens(text: str) -> None:
    assert names.is_partner_id(text)


@pytest.mark.parametrize(
    "text", ["ab", "a" * 33, "1abc", "-abc", "Abc", "a_c", "a.c", "abc/", "test", "live"]
)
def test_a_partner_id_begins_with_a_letter_and_is_not_reserved(text: str) -> None:
    assert not names.is_partner_id(text)


def test_tier_ids_have_1_to_32_lower_case_letters_digits_and_hyphens() -> None:
    assert all(names.is_tier_id(text) for text in ["a", "0", "-", "tic-tac-toe", "a" * 32])
    assert not any(names.is_tier_id(text) for text in ["a" * 33, "Chess", "tic_tac", "a b", "é"])


def test_player_ids_have_1_to_64_letters_digits_underscores_and_hyphens() -> None:
    assert all(names.is_player_id(text) for text in ["a", "Z", "0", "_", "-", "p" * 64])
    assert not any(names.is_player_id(text) for text in ["p" * 65, "a.b", "a:b", "a b", "ä", "٣"])


def test_idempotency_keys_have_1_to_128_letters_digits_and_marks() -> None:
    assert all(names.is_idempotency_key(text) for text in ["a", "a.b:c_d-E9", "k" * 128])
    assert not any(names.is_idempotency_key(text) for text in ["k" * 129, "a/b", "a b", "k\u0660"])


@pytest.mark.parametrize("check", CHECKS)
@given(text=st.text(max_size=140))
def test_no_name_is_empty_or_holds_anything_but_plain_ascii(
    check: Callable[[str], bool], text: str
) -> None:
    if check(text):
        assert text
        assert text.isascii()
        assert text.isprintable()
        assert " " not in text


@pytest.mark.parametrize("check", CHECKS)
def test_a_name_with_a_line_feed_after_it_is_refused(check: Callable[[str], bool]) -> None:
    assert check("abc")
    assert not check("abc\n")
    assert not check("")


@pytest.mark.parametrize("one", ["\n", "\t", "\x00", "\x1b", "\x7f", "\x85", "\x9f"])
def test_neither_a_text_nor_a_name_has_control_characters(one: str) -> None:
    for check in (names.fault_of_text, names.fault_of_name):
        for text in (one, f"Ann{one}", f"{one} Ann", f"A{one}n"):
            assert "control character" in str(check(text)) or "spaces" in str(check(text))


@pytest.mark.parametrize(
    "one", [chr(code) for code in (0x200B, 0x200D, 0x200E, 0x202E, 0x2066, 0x2060, 0x61C, 0xFEFF)]
)
def test_a_name_has_nothing_invisible_and_nothing_that_reverses_it(one: str) -> None:
    assert "cannot be seen" in str(names.fault_of_name(f"Ann{one}"))
    assert names.fault_of_text(f"order{one}") is None


@pytest.mark.parametrize("text", [" ", "   ", "\u00a0", "\u3000 "])
def test_a_name_is_more_than_spaces(text: str) -> None:
    assert "spaces only" in str(names.fault_of_name(text))
    assert names.fault_of_text(text) is None


@pytest.mark.parametrize("text", ["", "Ann", "Ål O'Neill", "陳", "علي", "🎲 Ann", "a" * 64])
def test_names_of_all_scripts_are_fine(text: str) -> None:
    assert names.fault_of_name(text) is None
    assert names.fault_of_text(text) is None
