"""Heads that differ from an earlier one only in their token are read from what was kept."""

from itertools import product

import pytest

from pgs.http.transport import head_cache
from pgs.http.transport.head_cache import KEPT_HEAD_BYTES, KEPT_HEADS_MAX, HeadReader
from pgs.http.transport.plain_heads import MAX_PLAIN_BYTES, read_plain_head

PATHS = (b"/partner/sessions", b"/partner/matches")

LINES = (
    b"POST /partner/sessions HTTP/1.1",
    b"POST /partner/matches?a=b HTTP/1.1",
    b"GET /x HTTP/1.1",
)
FIRST = (b"Host: h\r\n", b"Host: h\r\nA: b\r\n", b"Host: h\r\nA\r\n", b"A: b\r\n", b"")
SPELLINGS = (
    b"Authorization: ",
    b"authorization: ",
    b"AUTHORIZATION: ",
    b"X: authorization: ",
    b"a",
)
TOKENS = (
    b"Bearer a",
    b"Bearer b",
    b"Bearer ",
    b"Bearer  a",
    b"Bearer a b ",
    b"Bearer \xe9",
    b"Basic a",
)
REST = (
    b"",
    b"\r\nContent-Length: 3",
    b"\r\nX: ",
    b"\r\nAuthorization: Bearer c",
    b"\r\nContent-Length: 3\r\nContent-Length: 3",
    b"\r\nX-Pgs-Forwarded: a.b",
)


class Counted:
    """A reader that counts the heads that it has taken apart."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.whole = 0
        monkeypatch.setattr(head_cache, "read_plain_head", self._read_plain_head)
        self.read = HeadReader(PATHS).read

    def _read_plain_head(self, head: bytes) -> object:
        self.whole += 1
        return read_plain_head(head)


def head_with(token: bytes, more: bytes = b"") -> bytes:
    return (
        b"POST /partner/sessions HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer "
        + token
        + b"\r\nContent-Length: 3"
        + more
    )


def test_a_head_is_read_alike_whichever_heads_were_read_before() -> None:
    heads = [
        line + b"\r\n" + first + spelling + token + rest
        for line, first, spelling, token, rest in product(LINES, FIRST, SPELLINGS, TOKENS, REST)
    ]
    reader = HeadReader(PATHS)
    for head in (*heads, *reversed(heads)):
        assert reader.read(head) == read_plain_head(head), head
    assert sum(read_plain_head(head) is not None for head in heads) > 100


def test_a_head_with_another_token_is_not_taken_apart_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counted = Counted(monkeypatch)
    for token in (b"a", b"b", b"another"):
        assert counted.read(head_with(token)) == read_plain_head(head_with(token))
    assert counted.whole == 1
    counted.read(head_with(b"a").replace(b"sessions", b"matches"))
    assert counted.whole == 2


def test_a_head_that_a_long_token_makes_too_long_is_not_plain() -> None:
    reader = HeadReader(PATHS)
    assert reader.read(head_with(b"a")) is not None
    assert reader.read(head_with(b"a" * MAX_PLAIN_BYTES)) is None


@pytest.mark.parametrize(
    "head",
    [
        head_with(b"a").replace(b"/partner/sessions", b"/partner/seats/1"),
        head_with(b"a").replace(b" HTTP", b"?limit=1 HTTP"),
        head_with(b"a", b"\r\nX: " + b"y" * KEPT_HEAD_BYTES),
        head_with(b"a", b"\r\nX-Pgs-Forwarded: a.b"),
    ],
    ids=["a path with an id", "a query", "a long head", "a forwarded request"],
)
def test_heads_that_will_not_come_again_are_not_kept(
    monkeypatch: pytest.MonkeyPatch, head: bytes
) -> None:
    counted = Counted(monkeypatch)
    assert counted.read(head) == counted.read(head) == read_plain_head(head) is not None
    assert counted.whole == 2


def test_a_limited_number_of_heads_is_kept_and_no_token() -> None:
    reader = HeadReader(PATHS)
    for number in range(KEPT_HEADS_MAX + 1):
        reader.read(head_with(b"secret", b"\r\nX: %d" % number))
        assert len(reader.kept) <= KEPT_HEADS_MAX
    assert reader.kept
    assert not any(b"secret" in rest for rest in reader.kept)
    assert all(
        b"secret" not in value
        for kept in reader.kept.values()
        for _, value in (*kept.before, *kept.after, *kept.head.headers)
    )
