"""Frames of RFC 6455, right ones and wrong ones, in the order of its chapters."""

from itertools import cycle, pairwise
from typing import Final

from tests.http.raw import text_frame
from tests.http.sockets import ABUSE, CLOSE, PING, PONG

CONTINUED, BINARY = 0, 2


MASK = b"\x12\x34\xab\xcd"


EDGES = "\x7f\x80\u07ff\u0800\uffff\U00010000\U0010ffff"


def ask(text: str = "1") -> bytes:
    """Return a message that the service answers with `answer` of the same text."""
    return f'{{"type":"ping","id":"{text}"}}'.encode()


def answer(text: str = "1") -> tuple[int, bytes]:
    return 1, f'{{"type":"pong","id":"{text}"}}'.encode()


def ping(payload: bytes = b"") -> bytes:
    return text_frame(payload, opcode=PING)


def close(code: int, reason: bytes = b"") -> bytes:
    return text_frame(code.to_bytes(2) + reason, opcode=CLOSE)


def pieces(text: bytes, *cuts: int) -> list[bytes]:
    """Return the frames of a message that is cut at these places."""
    parts = [text[begin:end] for begin, end in pairwise((0, *cuts, len(text)))]
    last = len(parts) - 1
    return [
        text_frame(part, final=number == last, opcode=CONTINUED if number else 1)
        for number, part in enumerate(parts)
    ]


def octets(text: bytes) -> bytes:
    """Return a message with a frame for each byte."""
    return b"".join(pieces(text, *range(1, len(text))))


RIGHT: Final[dict[str, tuple[bytes, list[tuple[int, bytes]]]]] = {
    # Framing (5.2): each way of writing a length.
    "125 bytes": (text_frame(ask("x" * 102)), [answer("x" * 102)]),
    "126 bytes": (text_frame(ask("x" * 103)), [answer("x" * 103)]),
    "127 bytes": (text_frame(ask("x" * 104)), [answer("x" * 104)]),
    "128 bytes": (text_frame(ask("x" * 105)), [answer("x" * 105)]),
    "the longest message": (text_frame(ask("x").ljust(16 * 1024)), [answer("x")]),
    "two in one segment": (text_frame(ask("1")) + text_frame(ask("2")), [answer("1"), answer("2")]),
    "a mask": (
        b"\x81"
        + bytes([0x80 | len(ask())])
        + MASK
        + bytes(a ^ b for a, b in zip(ask(), cycle(MASK), strict=False)),
        [answer()],
    ),
    # Fragmentation (5.4).
    "two fragments": (b"".join(pieces(ask(), 5)), [answer()]),
    "an empty first fragment": (b"".join(pieces(ask(), 0)), [answer()]),
    "an empty last fragment": (b"".join(pieces(ask(), len(ask()))), [answer()]),
    "empty fragments between": (b"".join(pieces(ask(), 0, 0, 7, 7, 7, 9)), [answer()]),
    "a fragment for each byte": (octets(ask("κόσμε 🎲")), [answer("κόσμε 🎲")]),
    "a ping between fragments": (
        ping(b"here?").join(pieces(ask(), 5)),
        [(PONG, b"here?"), answer()],
    ),
    "pings and pongs between fragments": (
        (ping(b"1") + text_frame(b"not asked for", opcode=PONG) + ping(b"2")).join(
            pieces(ask("é"), 4, 22)
        ),
        [(PONG, b"1"), (PONG, b"2"), (PONG, b"1"), (PONG, b"2"), answer("é")],
    ),
    # Control frames (5.5).
    "an empty ping": (ping(), [(PONG, b"")]),
    "a ping with bytes that are no text": (
        ping(b"\x00\xff\xfe\xfd"),
        [(PONG, b"\x00\xff\xfe\xfd")],
    ),
    "the longest ping": (ping(b"\xfe" * 125), [(PONG, b"\xfe" * 125)]),
    "ten pings at once": (
        b"".join(ping(b"%d" % number) for number in range(10)),
        [(PONG, b"%d" % number) for number in range(10)],
    ),
    "an unsolicited pong": (text_frame(b"", opcode=PONG) + text_frame(ask()), [answer()]),
    "a long unsolicited pong": (
        text_frame(b"\xff" * 125, opcode=PONG) + ping(b"x"),
        [(PONG, b"x")],
    ),
    # Text (5.6): the edges of UTF-8.
    "the ends of each length": (text_frame(ask(EDGES)), [answer(EDGES)]),
    "beside the surrogates": (text_frame(ask("\ud7ff\ue000")), [answer("\ud7ff\ue000")]),
    "no characters": (
        text_frame(ask("\ufdd0\ufffe\U0001fffe")),
        [answer("\ufdd0\ufffe\U0001fffe")],
    ),
    "a cut through a character": (b"".join(pieces(ask("🎲"), 22, 23, 24)), [answer("🎲")]),
}


NOT_UTF8: Final = {
    "a lone continuation": b"\x80",
    "the last continuation alone": b"\xbf",
    "two first bytes": b"\xc3\xc3\xa9",
    "a first byte alone": b"\xc3 ",
    "three bytes less one": b"\xe2\x82 ",
    "four bytes less one": b"\xf0\x9f\x8e ",
    "impossible fe": b"\xfe",
    "impossible ff": b"\xff",
    "overlong slash in two": b"\xc0\xaf",
    "overlong slash in three": b"\xe0\x80\xaf",
    "overlong slash in four": b"\xf0\x80\x80\xaf",
    "overlong in five": b"\xf8\x88\x80\x80\x80",
    "overlong in six": b"\xfc\x84\x80\x80\x80\x80",
    "overlong nothing": b"\xc0\x80",
    "the highest overlong": b"\xf0\x8f\xbf\xbf",
    "beyond the last character": b"\xf4\x90\x80\x80",
    "the first surrogate": b"\xed\xa0\x80",
    "the last surrogate": b"\xed\xbf\xbf",
    "a pair of surrogates": b"\xed\xa0\x80\xed\xb0\x80",
}


BEGIN = text_frame(b'{"type":', final=False)


WRONG: Final[dict[str, tuple[bytes, int]]] = {
    # Framing (5.2): reserved bits, masks, lengths.
    **{
        f"a reserved bit, {bit:#x}": (bytes([0x81 | bit]) + text_frame(ask())[1:], 1002)
        for bit in (0x40, 0x20, 0x10, 0x70)
    },
    **{
        f"a reserved bit of a ping, {bit:#x}": (bytes([0x89 | bit]) + ping(b"x")[1:], 1002)
        for bit in (0x40, 0x20, 0x10)
    },
    "a reserved bit of a close": (bytes([0xC8]) + close(1000)[1:], 1002),
    "a reserved bit of a continuation": (BEGIN + b"\xc0" + text_frame(b"1}")[1:], 1002),
    "not masked": (b"\x81" + bytes([len(ask())]) + ask(), 1002),
    "an unmasked ping": (b"\x89\x00", 1002),
    "an unmasked close": (b"\x88\x02\x03\xe8", 1002),
    "a length in too many bytes": (b"\x81\xfe\x00\x05\0\0\0\0", 1002),
    "a length in far too many bytes": (b"\x81\xff" + (200).to_bytes(8) + b"\0\0\0\0", 1002),
    "a length of 2^63": (b"\x81\xff" + (2**63).to_bytes(8) + b"\0\0\0\0", 1002),
    "a length of 2^64 - 1": (b"\x81\xff" + b"\xff" * 8 + b"\0\0\0\0", 1002),
    # Opcodes (11.8).
    **{
        f"opcode {opcode}": (text_frame(b"", opcode=opcode), 1002)
        for opcode in (3, 4, 5, 6, 7, 11, 12, 13, 14, 15)
    },
    "a reserved opcode with a payload": (text_frame(ask(), opcode=5), 1002),
    "a reserved opcode in a message": (BEGIN + text_frame(b"1}", opcode=3), 1002),
    # Fragmentation (5.4).
    "a continuation of nothing": (text_frame(ask(), opcode=CONTINUED), 1002),
    "an unfinished continuation of nothing": (
        text_frame(ask(), final=False, opcode=CONTINUED),
        1002,
    ),
    "a continuation of what has ended": (
        BEGIN + text_frame(b"1}", opcode=CONTINUED) + text_frame(b"", opcode=CONTINUED),
        1002,
    ),
    "a text within a message": (BEGIN + text_frame(ask()), 1002),
    "a binary within a message": (BEGIN + text_frame(b"x", opcode=BINARY), 1002),
    # Control frames (5.5).
    "a ping of 126 bytes": (ping(b"x" * 126), 1002),
    "a pong of 126 bytes": (text_frame(b"x" * 126, opcode=PONG), 1002),
    "a close of 126 bytes": (close(1000, b"x" * 124), 1002),
    "a ping of 70,000 bytes": (ping(b"x" * 70_000), 1002),
    "a ping in pieces": (text_frame(b"x", final=False, opcode=PING), 1002),
    "a pong in pieces": (text_frame(b"x", final=False, opcode=PONG), 1002),
    "a close in pieces": (text_frame(b"\x03\xe8", final=False, opcode=CLOSE), 1002),
    # Close frames (7.4).
    "half a code": (text_frame(b"\x03", opcode=CLOSE), 1002),
    **{
        f"code {code}": (close(code), 1002)
        for code in (0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 9999, 65535)
    },
    "a reason that is no text": (
        close(1000, b"\xce\xba\xe1\xbd\xb9\xcf\x83\xce\xbc\xce\xb5\xed\xa0\x80"),
        1007,
    ),
    "a reason that breaks off": (close(1000, b"tsch\xc3"), 1007),
    # Text (8.1).
    **{
        f"text with {name}": (text_frame(ask().replace(b"1", bad)), 1007)
        for name, bad in NOT_UTF8.items()
    },
    **{
        f"a fragment with {name}": (
            BEGIN + text_frame(bad + b" ", final=False, opcode=CONTINUED),
            1007,
        )
        for name, bad in NOT_UTF8.items()
    },
    **{
        f"a frame for each byte of {name}": (octets(ask().replace(b"1", bad)), 1007)
        for name, bad in NOT_UTF8.items()
    },
    "text that breaks off in a character": (text_frame(b"\xf0\x9f\x8e"), 1007),
    "a last fragment that breaks off in a character": (
        BEGIN + text_frame(b"\xe2\x82", opcode=CONTINUED),
        1007,
    ),
    "an empty last fragment within a character": (
        BEGIN + text_frame(b"\xe2", final=False, opcode=0) + text_frame(b"", opcode=0),
        1007,
    ),
    # The game's own bounds.
    "an empty message": (text_frame(b""), ABUSE),
    "an empty message in pieces": (b"".join(pieces(b"", 0, 0)), ABUSE),
    "no JSON": (text_frame(b"{"), ABUSE),
    "binary": (text_frame(ask(), opcode=BINARY), ABUSE),
    "an empty binary": (text_frame(b"", opcode=BINARY), ABUSE),
    "binary in pieces": (
        text_frame(b"{", final=False, opcode=BINARY) + text_frame(b"}", opcode=CONTINUED),
        ABUSE,
    ),
    "one byte too many": (text_frame(ask("x").ljust(16 * 1024 + 1)), ABUSE),
    "one byte too many, in pieces": (
        b"".join(pieces(ask("x").ljust(16 * 1024 + 1), 5_000, 10_000)),
        ABUSE,
    ),
    "one byte too many, in characters of two": (
        text_frame(b'"' + "é".encode() * 8192 + b'"'),
        ABUSE,
    ),
    "21 messages in a second": (text_frame(b'{"type":"?"}') * 21, ABUSE),
}


LAST_WORDS = b"x" * 123


LEAVING: Final[dict[str, tuple[bytes, bytes]]] = {
    # The close that is sent, and the payload of the answering close (5.5.1: it echoes the code).
    "nothing": (text_frame(b"", opcode=CLOSE), b""),
    **{
        f"code {code}": (close(code), code.to_bytes(2))
        for code in (
            1000,
            1001,
            1002,
            1003,
            1007,
            1008,
            1009,
            1010,
            1011,
            1012,
            1013,
            3000,
            3999,
            4000,
            4409,
            4999,
        )
    },
    "a reason": (close(1000, "tschüß".encode()), b"\x03\xe8" + "tschüß".encode()),
    "the longest reason": (close(4000, LAST_WORDS), (4000).to_bytes(2) + LAST_WORDS),
    "in the middle of a message": (BEGIN + close(1000), b"\x03\xe8"),
    "twice": (close(1000) + close(1001), b"\x03\xe8"),
    "and pings afterwards": (close(1000) + ping(b"late"), b"\x03\xe8"),
    "and speaks afterwards": (close(1000) + text_frame(ask()), b"\x03\xe8"),
    "and breaks the protocol afterwards": (
        close(1000) + text_frame(b"\xff", opcode=5),
        b"\x03\xe8",
    ),
}
