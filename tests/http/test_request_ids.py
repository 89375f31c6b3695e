"""Requests get ids of the form of all ids, each with random bytes of its own."""

import os

from pgs.domain.ids import ENTROPY_BYTES, REQUEST, is_id, new_id
from pgs.http.transport.request_ids import DRAWN_TOGETHER, RequestIds


def test_request_ids_are_those_of_new_id() -> None:
    ids = RequestIds(lambda: 1_234, bytes)
    assert ids.new() == new_id(REQUEST, 1_234, bytes(ENTROPY_BYTES))


def test_request_ids_differ_also_across_draws() -> None:
    draws: list[int] = []

    def draw(count: int) -> bytes:
        draws.append(count)
        return os.urandom(count)

    ids = RequestIds(lambda: 0, draw)
    made = {ids.new() for _ in range(DRAWN_TOGETHER + 1)}
    assert len(made) == DRAWN_TOGETHER + 1
    assert all(is_id(REQUEST, one) for one in made)
    assert draws == [DRAWN_TOGETHER * ENTROPY_BYTES] * 2
