"""Frames are read as wsproto reads them: whole and in parts, right and wrong."""

import random

import pytest
import wsproto.events
from wsproto.connection import Connection, ConnectionState, ConnectionType

from pgs.http.transport.websocket_frames import FrameReader, Heard, close_frame, text_frame
from tests.http.raw import text_frame as client_frame
from tests.http.sockets import PING, PONG

LIMIT, FLOOD = 1000, 5000


def masked(frame: bytes, chance: random.Random) -> bytes:
    """Return a frame with a mask of its own instead of four zeros."""
    start = {254: 8, 255: 14}.get(frame[1], 6)
    mask = chance.randbytes(4)
    payload = bytes(byte ^ mask[at % 4] for at, byte in enumerate(frame[start:]))
    return frame[: start - 4] + mask + payload


def generated(chance: random.Random) -> bytes:
    """Return some frames, most of them right."""
    frames = b""
    for _ in range(chance.randrange(1, 6)):
        opcode = chance.choice([1] * 8 + [PING, PONG] * 3 + [0, 2, 8, 3])
        content = chance.choice(["", "x", "é", "🎲" * 31, "y" * 125, "y" * 126, "z" * 900]).encode()
        if opcode >= 8:
            content = content[:125]
        if chance.random() < 0.1:
            content = chance.randbytes(chance.randrange(9))
        final = chance.random() < 0.9
        frame = masked(client_frame(content, final=final, opcode=opcode), chance)
        if chance.random() < 0.05:
            at = chance.randrange(len(frame))
            frame = frame[:at] + bytes([frame[at] ^ 1 << chance.randrange(8)]) + frame[at + 1 :]
        frames += frame
    return frames


def cut(data: bytes, chance: random.Random) -> list[bytes]:
    """Return the data as one, two or three segments."""
    places = sorted(chance.randrange(len(data) + 1) for _ in range(chance.choice([0, 0, 1, 2])))
    ends = [*places, len(data)]
    return [data[a:b] for a, b in zip([0, *places], ends, strict=True) if a < b]


def by_wsproto(segments: list[bytes]) -> list[Heard]:
    """Return what the segments mean to wsproto."""
    connection, parts = Connection(ConnectionType.SERVER), []
    heard: list[Heard] = []
    for segment in segments:
        connection.receive_data(segment)
        for event in connection.events():
            if isinstance(event, wsproto.events.Message):
                parts.append(event.data)
                if event.message_finished:
                    text = isinstance(event, wsproto.events.TextMessage)
                    heard.append("".join(parts) if text else None)
                    parts.clear()
            elif isinstance(event, wsproto.events.Ping):
                heard.append(bytes(connection.send(event.response())))
            elif isinstance(event, wsproto.events.CloseConnection):
                if connection.state is ConnectionState.REMOTE_CLOSING:
                    heard.append(bytes(connection.send(event.response())))
                else:
                    heard.append(close_frame(event.code))
                return heard
    return heard


@pytest.mark.parametrize("seed", range(4))
def test_generated_frames_mean_what_they_mean_to_wsproto(seed: int) -> None:
    chance = random.Random(seed)
    known: set[type] = set()
    for _ in range(2500):
        segments = cut(generated(chance), chance)
        reader = FrameReader(10**6, 10**7)
        heard: list[Heard] = []
        for segment in segments:
            if not reader.over:
                heard += [each for each in reader.read(segment) if each != b""]
        assert heard == by_wsproto(segments), segments
        known |= {type(each) for each in heard}
    assert known == {str, bytes, type(None)}


def test_a_message_over_the_limit_is_cut_and_a_flood_ends_the_reading() -> None:
    reader = FrameReader(LIMIT, FLOOD)
    [text] = reader.read(client_frame(b"x" * LIMIT))
    assert text == "x" * LIMIT
    [text] = reader.read(client_frame(b"x" * (LIMIT + 500)))
    assert text == "x" * (LIMIT + 1)
    heard = [*reader.read(client_frame(b"x" * (FLOOD + 1)))]
    assert heard == [close_frame(1009)]
    assert reader.over


@pytest.mark.parametrize("size", [0, 1, 125, 126, 65_535, 65_536])
def test_a_message_to_the_client_is_a_frame_of_the_shortest_form(size: int) -> None:
    client = Connection(ConnectionType.CLIENT)
    client.receive_data(text_frame("x" * size))
    events = [each for each in client.events() if isinstance(each, wsproto.events.TextMessage)]
    assert "".join(event.data for event in events) == "x" * size
    server = Connection(ConnectionType.SERVER)
    assert server.send(wsproto.events.TextMessage("x" * size)) == text_frame("x" * size)
