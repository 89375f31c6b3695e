"""Bodies for every endpoint that takes one, valid ones and faulty ones."""

NO_OBJECT = [
    b"",
    b" ",
    b"{",
    b"{}}",
    b"nothing",
    b"[]",
    b'[{"gameId":"tic-tac-toe"}]',
    b"null",
    b"true",
    b"7",
    b'"text"',
    b"{'gameId': 'tic-tac-toe'}",
    b'{"gameId": NaN}',
    b'{"gameId": Infinity}',
    b'{"gameId": "tic-tac-toe",}',
    b'{"gameId": "tic\ntac"}',
    b'{"a": "\xff"}',
    b'{"\xff": 1}',
    b'{"a": "\xc0\x80"}',
    b'{"a": "\xed\xa0\x80"}',
    b'{"a": "cut \xf0\x9f',
    b"[" * 60_000,
    b'{"a":' * 12_000,
    b'{"a":' + b"[" * 30_000 + b"]" * 30_000 + b"}",
    b'{"x":' + b"9" * 5000 + b"}",
    b"gameId=tic-tac-toe&playerId=alice",
]


NOT_INTEGERS = [
    "100.0",
    "1e2",
    "true",
    '"100"',
    "null",
    "[100]",
    "{}",
    str(2**53 + 1),
    str(2**63),
    str(10**20),
    str(-(2**53) - 1),
    "1" * 400,
]


INTEGER_PARAMETERS = {"limit", "since", "waitSeconds"}
