"""Secrets encrypted at rest: how the database holds those of webhooks and authenticators.

A sealed text is `pgse1.<kid>.<nonce and ciphertext>`: AES-256-GCM under a key derived from the
ring. It opens only in the context for which it was sealed, so a row that is copied to another
partner, environment or table does not open.
"""

from functools import lru_cache
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from pgs.domain import base64url
from pgs.domain.keyring import KeyRing, RingKey, derive

NONCE_BYTES: Final = 12
"""Bytes of randomness for one encryption, which are never used twice. NIST SP 800-38D allows 2**32
random nonces for a key."""

_FORMAT = "pgse1"


def seal(ring: KeyRing, plaintext: bytes, context: str, nonce: bytes) -> str:
    """Return `plaintext` encrypted under the current key, as ASCII text.

    `context` names the owner and the purpose of the secret, such as `acme|live|webhook`; the same
    context is needed to open it. `nonce` is exactly `NONCE_BYTES` fresh random bytes (else
    ValueError).
    """
    if len(nonce) != NONCE_BYTES:
        raise ValueError(f"sealing takes a nonce of {NONCE_BYTES} bytes")
    key = ring.current
    ciphertext = _cipher(key).encrypt(nonce, plaintext, context.encode())
    return f"{_FORMAT}.{key.kid}.{base64url.encode(nonce + ciphertext)}"


def open_sealed(ring: KeyRing, text: str, context: str) -> bytes | None:
    """Return the plaintext, or None if the text does not open.

    A text does not open if it was altered, was sealed for another context, or names a key that is
    not on the ring.
    """
    parts = text.split(".")
    if len(parts) != 3 or parts[0] != _FORMAT:
        return None
    key, data = ring.find(parts[1]), base64url.decode(parts[2])
    if key is None or data is None or len(data) <= NONCE_BYTES:
        return None
    try:
        return _cipher(key).decrypt(data[:NONCE_BYTES], data[NONCE_BYTES:], context.encode())
    except InvalidTag:
        return None


@lru_cache(maxsize=64)
def _cipher(key: RingKey) -> AESGCM:
    return AESGCM(derive(key, "sealed"))
