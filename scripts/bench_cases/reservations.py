"""Colyseus's reservations: calls for seats in rooms of two, and the end of the rooms."""

import itertools
from collections.abc import Iterator

import msgspec
from bench_cases.caller import call, post
from bench_cases.servers import Server
from bench_cases.setting import Failed

COLYSEUS = "Colyseus"


def reservations(server: Server) -> Iterator[bytes]:
    """Return an endless series of calls, each of which reserves a seat."""
    for number in itertools.count():
        body = msgspec.json.encode({"playerId": f"p{number}"})
        yield post(server.address, "/matchmake/joinOrCreate/pair", body)


def end_rooms(server: Server) -> None:
    """End all rooms of two. Raises `Failed`."""
    end = post(server.address, "/matchmake/joinOrCreate/after-pairs", b"{}")
    if call(server.address, iter([end]), connections=1).bad():
        raise Failed("Colyseus did not end its rooms")
