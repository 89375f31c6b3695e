"""Hostile first bytes of a connection: more than a hundred malformed or abusive inputs."""

from itertools import product

_HOST = b"Host: h\r\n"
_WS = (
    b"GET /game/socket HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
)
_POST = b"POST /partner/matches HTTP/1.1\r\nHost: h\r\n"


def _request_lines() -> list[bytes]:
    methods = [b"GET", b"get", b"G\x00T", b"M" * 3000, b"", b"CONNECT", b"TRACE", b"PRI"]
    targets = [
        b"/",
        b"*",
        b"http://evil.example/partner/me",
        b"h:443",
        b"/\x00",
        b"/%00",
        b"/\xff\xfe",
        b"/" + b"a" * 20_000,
        b"",
        b"//partner//me",
    ]
    versions = [
        b"HTTP/1.1",
        b"HTTP/1.0",
        b"HTTP/1.2",
        b"HTTP/0.9",
        b"HTTP/2.0",
        b"http/1.1",
        b"HTTP/11",
        b"",
    ]
    lines = [b" ".join((method, b"/partner/me", b"HTTP/1.1")) for method in methods]
    lines += [b" ".join((b"GET", target, b"HTTP/1.1")) for target in targets]
    lines += [b" ".join((b"GET", b"/partner/me", version)) for version in versions]
    return [line + b"\r\n" + _HOST + b"\r\n" for line in lines]


def _headers() -> list[bytes]:
    blocks = [
        b"",
        b"Host: h\r\nHost: h\r\n",
        b"Host: h\r\n" + b"X: y\r\n" * 1000,
        b"Host: h\r\nX: " + b"y" * 40_000 + b"\r\n",
        b"Host: h\r\nX\x00: y\r\n",
        b"Host: h\r\nX : y\r\n",
        b"Host: h\r\n folded: y\r\n",
        b"Host: h\r\nX: a\r\n\tb\r\n",
        b"Host: h\r\n: y\r\n",
        b"Host: h\r\nno colon\r\n",
        b"Host: h\r\nAuthorization: Bearer \xff\xfe\r\n",
        b"Host: h\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\n",
        b"Host: h\r\nX-Service-Api-Version: 1\r\nX-Service-Api-Version: 2\r\n",
        b"Host: h\r\nX-Service-Api-Version: " + b"9" * 5000 + b"\r\n",
        b"Host: h\r\nConnection: upgrade\r\nUpgrade: h2c\r\n"
        b"HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n",
        b"Host: h\r\nExpect: 200-maybe\r\n",
        b"Host: h\r\nX-Pgs-Partner: acme\r\n",
        b"Host: \x01\r\n",
    ]
    return [b"GET /partner/me HTTP/1.1\r\n" + block + b"\r\n" for block in blocks]


def _bodies() -> list[bytes]:
    framings = [
        b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        b"Content-Length: -1\r\n\r\n",
        b"Content-Length: +5\r\n\r\nhello",
        b"Content-Length: 0x5\r\n\r\nhello",
        b"Content-Length: 99999999999999999999\r\n\r\n",
        b"Content-Length: 5, 5\r\n\r\nhello",
        b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: identity\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n5\r\nhelloXX0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n5;" + b"e" * 50_000 + b"\r\nhello\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n0\r\n" + b"T: x\r\n" * 5000 + b"\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\na\r\n" * 20_000 + b"0\r\n\r\n",
        b"Content-Length: 200000\r\n\r\n" + b"[" * 200_000,
        b"Content-Length: 100000\r\n\r\n" + b"{" * 1000,
    ]
    return [_POST + framing for framing in framings]


def _websockets() -> list[bytes]:
    extras = [
        b"Content-Length: 5\r\n\r\nhello",
        b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        b"\r\nbytes after the handshake",
        b"Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits=99\r\n\r\n",
        b"Sec-WebSocket-Extensions: permessage-deflate; server_max_window_bits=\r\n\r\n",
        b"Sec-WebSocket-Extensions: ,;=,\r\n\r\n",
        b"Sec-WebSocket-Protocol: pgs.game.v1, pgs.token.\xe9\xff\r\n\r\n",
        b"Sec-WebSocket-Protocol: \x00\r\n\r\n",
        b"Sec-WebSocket-Protocol: " + b"p," * 5000 + b"\r\n\r\n",
        b"\r\n" + b"\x81\xfe\xff\xff" + b"\x00" * 100,
        b"\r\n" + b"\x8f\x00" * 50,
    ]
    broken = [
        _WS.replace(b"Version: 13", b"Version: 99") + b"\r\n",
        _WS.replace(b"AAAAAAAAAAAAAAAAAAAAAA==", b"short") + b"\r\n",
        _WS.replace(b"GET", b"POST") + b"\r\n",
        _WS.replace(b"HTTP/1.1", b"HTTP/1.0") + b"\r\n",
    ]
    paths = [b"/game/socket", b"/partner/me", b"/nowhere"]
    return [
        _WS.replace(b"/game/socket", path) + extra for path, extra in product(paths, extras)
    ] + broken


def _garbage() -> list[bytes]:
    return [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(range(256)),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\x00" * 200,
        bytes(range(256)) * 50,
        b"\r\n" * 5000,
        b"\x00" * 70_000,
        b"GET / HTTP/1.1\r\n" * 5000,
        b"GET / HTTP/1.1\n\n",
        b"\xef\xbb\xbfGET / HTTP/1.1\r\nHost: h\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.9\r\n",
        b"GET /partner/me HTTP/1.1\r\nHost: h\r\n\r\n" * 300,
    ]


def hostile_inputs() -> list[bytes]:
    """Return all hostile inputs."""
    return _request_lines() + _headers() + _bodies() + _websockets() + _garbage()
