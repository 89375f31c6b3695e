"""Calls of the results feed on a core, without HTTP."""

from pgs.domain.keys import hash_key
from pgs.http.api.endpoint import Call, Principal
from pgs.http.api.services import Services
from tests.actors.api_keys import mint
from tests.actors.ready_core import ReadyCore


async def key_for(s: ReadyCore, partner: str = "acme") -> Principal:
    _, key = await mint(s, partner)
    known = s.parts.registry.find_key(hash_key(key))
    assert known is not None
    return Principal(known.account, known.key, 1)


def call(s: ReadyCore, principal: Principal, **query: str) -> Call:
    return Call(Services(s.core, "http://localhost"), principal, {}, query, None, "req_1")
