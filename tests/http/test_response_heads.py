"""Heads of the lane's responses carry the headers that every response carries."""

import pytest

from pgs.http.transport.direct import DirectAnswer
from pgs.http.transport.heads import stamp
from pgs.http.transport.response_heads import ResponseHeads, root_of

PATHS = ["/partner", "/partner/me", "/partners", "/embed/p", "/game/x", "/"]
OWN = [
    (),
    ((b"content-type", b"a/b"),),
    ((b"x-request-id", b"of the application"), (b"x-service-api-version", b"7"), (b"x-a", b"1")),
    ((b"cache-control", b"max-age=1"), (b"x-%d", b"50%"), (b"x-content-type-options", b"%b")),
    ((b"x-service-api-version", b"1"), (b"x-a", b"1"), (b"x-request-id", b"1")),
]


@pytest.mark.parametrize("own", OWN)
@pytest.mark.parametrize("path", PATHS)
def test_a_response_has_the_stamped_headers_and_its_length(
    path: str, own: tuple[tuple[bytes, bytes], ...]
) -> None:
    heads = ResponseHeads(current_version=3)
    for number in (1, 2):  # the second one is made from the first one's template
        answer = DirectAnswer(200, own, b"%d abc" % number)
        whole = heads.with_head(answer, root_of(path), f"req_{number}", 0.0, last=False)
        head, _, content = whole.partition(b"\r\n\r\n")
        line, *lines = head.split(b"\r\n")
        assert line == b"HTTP/1.1 200 OK"
        assert content == b"%d abc" % number
        expected = stamp(list(own), path=path, request_id=f"req_{number}", current_version=3)
        given = [tuple(line.split(b": ", 1)) for line in lines if not line.startswith(b"date: ")]
        assert sorted(given) == sorted([*expected, (b"content-length", b"5")])
        assert len(lines) == len(given) + 1


@pytest.mark.parametrize("own", [(), ((b"connection", b"close"),)])
def test_the_last_response_of_a_connection_says_so_once(
    own: tuple[tuple[bytes, bytes], ...],
) -> None:
    heads = ResponseHeads(current_version=1)
    answer = DirectAnswer(500, own, b"")
    head = heads.with_head(answer, "/", "req_1", 0.0, last=True)
    assert head.startswith(b"HTTP/1.1 500 Internal Server Error\r\n")
    assert head.lower().count(b"connection: close\r\n") == 1
