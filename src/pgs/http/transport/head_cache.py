"""Reads plain heads, and does not parse again a head that it has read before.

The requests that one kind of client sends to one path have the same head, except for the token of
`Authorization` and the length of the body. So a parsed head is kept without its token, and used
again for each later head that differs only in the token.
"""

import re
from collections.abc import Collection
from typing import Final

import msgspec

from pgs.domain.secrets import HidesSecrets
from pgs.http.transport.asgi import Headers
from pgs.http.transport.plain_heads import MAX_PLAIN_BYTES, PlainHead, read_plain_head

KEPT_HEADS_MAX: Final = 1024
"""Heads that are kept: one for each kind of client, path and length of a body. Most services see a
few kinds, some paths and dozens of lengths. When one more comes, all are dropped."""

KEPT_HEAD_BYTES: Final = 1024
"""Bytes of a head that is kept, without its token. Clients of an API send a few hundred."""

_NAME: Final = b"authorization"

_BEARER: Final = b"uthorization: Bearer "
"""The header without its first letter, which clients write in either case."""

_LINE_STARTS: Final = (b"\r\nA", b"\r\na")

_VALUE_AT: Final = len(b"uthorization: ")
"""Where the header's value begins in `_BEARER`."""

_TOKEN_AT: Final = len(_BEARER)

TOKEN_MAX: Final = MAX_PLAIN_BYTES - KEPT_HEAD_BYTES - len(_BEARER)
"""Bytes of the longest token for which a kept head is used: the whole head then has at most
`MAX_PLAIN_BYTES`."""

_TOKEN = re.compile(rb"[!-~]{1,%d}" % TOKEN_MAX)


class _Kept(HidesSecrets, msgspec.Struct, frozen=True):
    """A parsed head, the place of its token, and the headers before and after the token."""

    SECRETS = frozenset({"before", "after"})

    at: int
    head: PlainHead
    before: Headers
    after: Headers


class HeadReader:
    """Reads heads, and keeps the parsed ones whose path is in `paths` and has no query."""

    def __init__(self, paths: Collection[bytes]) -> None:
        self._paths = paths
        self.kept: dict[bytes, _Kept] = {}

    def read(self, head: bytes) -> PlainHead | None:
        """Return what `read_plain_head` returns."""
        at = head.find(_BEARER)
        if at < 0:
            return read_plain_head(head)
        end = head.find(b"\r\n", at)
        if end < 0:
            end = len(head)
        rest = head[:at] + head[end:]
        kept = self.kept.get(rest)
        if kept is None:
            return self._read_and_keep(head, rest, at)
        # A kept head is plain, and this head differs from it at most in the place and text of the
        # token. So only these two are checked; `_TOKEN` also bounds the length of the whole head.
        if kept.at != at or not _TOKEN.fullmatch(head, at + _TOKEN_AT, end):
            return read_plain_head(head)
        known = kept.head
        headers = [*kept.before, (_NAME, head[at + _VALUE_AT : end]), *kept.after]
        return PlainHead(known.method, known.path, known.query, headers, known.length)

    def _read_and_keep(self, head: bytes, rest: bytes, at: int) -> PlainHead | None:
        plain = read_plain_head(head)
        if (
            plain is not None
            and plain.path in self._paths
            and not plain.query
            and plain.forwarded is None
            and len(rest) <= KEPT_HEAD_BYTES
            and head[at - 3 : at] in _LINE_STARTS
        ):
            if len(self.kept) >= KEPT_HEADS_MAX:
                self.kept.clear()
            place = [name for name, _ in plain.headers].index(_NAME)
            before, after = plain.headers[:place], plain.headers[place + 1 :]
            without = msgspec.structs.replace(plain, headers=[])
            self.kept[rest] = _Kept(at, without, before, after)
        return plain
