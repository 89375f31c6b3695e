"""The proof that a request was forwarded by a node of this installation.

Nodes share one key ring. A node that forwards a request names one of the ring's keys and adds a
MAC; only another holder of the ring can do so. The MAC covers the receiving node, the method, the
target and the credential, so that it proves nothing about any other request.
"""

import hashlib
from typing import Final

from pgs.domain.keyring import KeyRing, same, sign

PROOF_MAX: Final = 128
"""Characters of a proof: a key's id, a dot and 43 characters make at most 60."""

_PURPOSE: Final = "forward"


def prove_forward(ring: KeyRing, node: str, method: str, target: bytes, credential: bytes) -> str:
    """Return the proof for a request that is forwarded to `node`.

    `target` is the path with the query, in ASCII. `credential` is what the request authenticates
    with; only its hash goes into the proof.
    """
    key = ring.newest
    return f"{key.kid}.{sign(key, _PURPOSE, _text(node, method, target, credential))}"


def is_forwarded(
    ring: KeyRing, proof: str, node: str, method: str, target: bytes, credential: bytes
) -> bool:
    """Return whether the proof belongs to this request. Takes any string."""
    if len(proof) > PROOF_MAX or not proof.isascii():
        return False
    kid, _, mac = proof.partition(".")
    key = ring.find(kid)
    return key is not None and same(
        sign(key, _PURPOSE, _text(node, method, target, credential)), mac
    )


def _text(node: str, method: str, target: bytes, credential: bytes) -> str:
    # No part but the last can contain a line feed, so no two requests have the same text.
    hashed = hashlib.sha256(credential).hexdigest()
    return "\n".join((node, method, hashed, target.decode("ascii", "backslashreplace")))
