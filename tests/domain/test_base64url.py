import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs.domain import base64url


@given(st.binary(max_size=80))
def test_bytes_come_back_from_their_text(data: bytes) -> None:
    assert base64url.decode(base64url.encode(data)) == data


@given(st.text(alphabet="AZaz09-_=+/ \n", max_size=12))
def test_no_two_texts_stand_for_the_same_bytes(text: str) -> None:
    data = base64url.decode(text)
    assert data is None or base64url.encode(data) == text


@pytest.mark.parametrize(
    "text", ["A", "AA==", "AB", "AA\n", "A A", "A+/A", "\uff21\uff21", "AAA=", "AAAAA"]
)
def test_padding_spare_bits_and_foreign_characters_are_refused(text: str) -> None:
    assert base64url.decode(text) is None
