"""The proof that a request or a command was sent by a node of this installation.

Nodes share one key ring. A node that forwards a request names one of the ring's keys and adds a
MAC, which only a holder of the ring can make. The MAC covers the receiving node, the method, the
target, the credential and the request's id, but not the body. It is not valid for a request in
which one of these five differs. The proof carries the request's id, so the request has the same one
on both nodes.
"""

import hashlib
from typing import Final

from pgs.domain.keyring import KeyRing, same, sign

PROOF_MAX: Final = 192
"""Characters of a proof that is read, about twice as many as a proof has: a key's id of at most 16,
the MAC of 43, the request's id of 36, and two dots."""

_PURPOSE: Final = "forward"
_COMMAND: Final = "operator's command"


def prove_forward(
    ring: KeyRing, node: str, request_id: str, method: str, target: bytes, credential: bytes
) -> str:
    """Return the proof for a request that is forwarded to `node`.

    `target` is the path with the query, in ASCII. `credential` is what the request authenticates
    with; only its hash goes into the proof.
    """
    key = ring.current
    mac = sign(key, _PURPOSE, _text(node, request_id, method, target, credential))
    return f"{key.kid}.{mac}.{request_id}"


def id_of_forwarded(
    ring: KeyRing, proof: str, node: str, method: str, target: bytes, credential: bytes
) -> str | None:
    """Return the request's id, or None if the proof does not belong to a request of these parts.

    Takes any string.
    """
    parts = proof.split(".") if len(proof) <= PROOF_MAX else []
    if len(parts) != 3 or not (proof.isascii() and proof.isprintable()):
        return None
    kid, mac, request_id = parts
    key = ring.find(kid)
    if key is None:
        return None
    own = sign(key, _PURPOSE, _text(node, request_id, method, target, credential))
    return request_id if same(own, mac) else None


def prove_command(ring: KeyRing, node: str, path: str, body: bytes) -> str:
    """Return the proof for an operator's command that is sent to a path of `node`.

    The proof covers the whole body, because a command has no other credential. It is not valid for
    a forwarded request, and a proof by `prove_forward` is not valid for a command.
    """
    key = ring.current
    return f"{key.kid}.{sign(key, _COMMAND, _command_text(node, path, body))}"


def is_command(ring: KeyRing, proof: str, node: str, path: str, body: bytes) -> bool:
    """Return whether the proof belongs to this command. Takes any string."""
    if len(proof) > PROOF_MAX or not proof.isascii():
        return False
    kid, _, mac = proof.partition(".")
    key = ring.find(kid)
    return key is not None and same(sign(key, _COMMAND, _command_text(node, path, body)), mac)


def _command_text(node: str, path: str, body: bytes) -> str:
    return "\n".join((node, path, hashlib.sha256(body).hexdigest()))


def _text(node: str, request_id: str, method: str, target: bytes, credential: bytes) -> str:
    hashed = hashlib.sha256(credential).hexdigest()
    # No part but the last can contain a line feed, so no two requests have the same text.
    return "\n".join((node, request_id, method, hashed, target.decode("ascii", "backslashreplace")))
