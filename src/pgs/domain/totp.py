"""Time-based one-time codes (RFC 6238): SHA-1, six digits, 30 seconds, as in every app."""

import base64
import hmac
import re
from typing import Final

from pyotp import TOTP

STEP_S: Final = 30
"""Seconds of one time step: the default of RFC 6238, which every authenticator app uses."""

ENTROPY_BYTES: Final = 20
"""Bytes of randomness in an authenticator's secret: the 160 bits of RFC 4226 (section 4, R6). They
make 32 base32 characters without padding."""

_CODE = re.compile(r"[0-9]{6}", re.ASCII)


def new_secret(entropy: bytes) -> str:
    """Return a secret in base32, as apps read it.

    `entropy` is exactly `ENTROPY_BYTES` random bytes (else ValueError).
    """
    if len(entropy) != ENTROPY_BYTES:
        raise ValueError(f"an authenticator's secret takes {ENTROPY_BYTES} bytes")
    return base64.b32encode(entropy).decode("ascii")


def matching_step(secret: str, code: str, now: int) -> int | None:
    """Return the time step in which the code is right, or None.

    Tries the current step and the one before it. `now` in epoch seconds; `code` is any string.
    Only six ASCII digits can be right; the library would also accept digits of other scripts.
    `pgs.domain.factors` checks whether the step was used before.
    """
    if _CODE.fullmatch(code) is None:
        return None
    current = now // STEP_S
    totp = TOTP(secret, interval=STEP_S)
    # Try the newer step first: a code that is right in both steps is then used up for both.
    for step in (current, current - 1):
        if step >= 0 and hmac.compare_digest(totp.generate_otp(step).encode(), code.encode()):
            return step
    return None


def code_at(secret: str, now: int) -> str:
    """Return the code that an authenticator with the secret shows at `now`, in epoch seconds."""
    return TOTP(secret, interval=STEP_S).generate_otp(now // STEP_S)


def otpauth_uri(secret: str, account: str, issuer: str) -> str:
    """Return the URI that an app reads from a QR code.

    The app shows `account` and `issuer`; neither may be empty.
    """
    return TOTP(secret, interval=STEP_S).provisioning_uri(name=account, issuer_name=issuer)
