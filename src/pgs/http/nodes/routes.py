"""Finds the shard of a request from its head, before anything is checked.

A partner's keys and its players' session tokens contain the partner's slot; the paths of its frames
contain the partner's id. The shard can be computed from the slot and also from the id
(`pgs.domain.shards`). The shard only decides which node checks the request.
"""

import re
from collections.abc import Sequence

from pgs.domain import sessions
from pgs.domain.keys import KEY_MARKS
from pgs.domain.names import is_partner_id
from pgs.domain.shards import shard_of, shard_of_slot
from pgs.http.transport.asgi import Headers

_MARKS = "|".join(map(re.escape, (*KEY_MARKS, f"{sessions.FORMAT}.")))
_CREDENTIAL = re.compile(
    rf"[Bb][Ee][Aa][Rr][Ee][Rr] +(?:{_MARKS})([0-9a-f]{{3}})".encode(), re.ASCII
)
_PROTOCOL = re.compile(rf"pgs\.token\.{sessions.FORMAT}\.([0-9a-f]{{3}})\.", re.ASCII)
_CALL = re.compile(rb"/(?:partner|game)(?:/.*)?", re.ASCII | re.DOTALL)
_FRAME = re.compile(
    rb"/(?:embed|embed/test|portal/frame/test)/([a-z][a-z0-9-]*)(?:/logo/[^/]*)?", re.ASCII
)


def shard_of_request(path: bytes, headers: Headers, subprotocols: Sequence[str] = ()) -> int | None:
    """Return the shard of a request, None if nothing in its head names one.

    Any node takes a request without a shard. There are three kinds. The first is a request for a
    page other than a partner's frame; a key in its head makes no difference. The second is a call
    whose credential is missing or malformed. The third is a call with an identity token: only the
    check of the token tells which account the call is for. If another node owns that account, the
    application raises `NotHere`.
    """
    credential = credential_of(headers, subprotocols)
    if credential and _CALL.fullmatch(path):
        found = _CREDENTIAL.match(credential)
        return None if found is None else shard_of_slot(found[1].decode())
    named = _FRAME.fullmatch(path)
    if named is None:
        return None
    partner_id = named[1].decode()
    return shard_of(partner_id) if is_partner_id(partner_id) else None


def credential_of(headers: Headers, subprotocols: Sequence[str] = ()) -> bytes:
    """Return what a request authenticates with, as the value of an `Authorization` header.

    A browser's WebSocket carries its token among the subprotocols instead. Empty if there is none.
    """
    for name, value in headers:
        if name == b"authorization":
            return value
    for protocol in subprotocols:
        if _PROTOCOL.match(protocol):
            return b"Bearer " + protocol.removeprefix("pgs.token.").encode("utf-8", "replace")
    return b""
