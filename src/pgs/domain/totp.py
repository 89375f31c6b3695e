"""Time-based one-time codes (RFC 6238: SHA-1, six digits, 30 seconds), as every authenticator app makes them."""

import base64
import hmac
import re
from typing import Final

from pyotp import TOTP

STEP_S: Final = 30
"""Seconds of one time step: the default of RFC 6238, which every authenticator app uses."""

ENTROPY_BYTES: Final = 20
"""Bytes of randomness in an authenticator's secret: the 160 bits of RFC 4226 (section 4, R6), which
are 32 base32 characters without padding."""

_CODE = re.compile(r"[0-9]{6}", re.ASCII)


def new_secret(entropy: bytes) -> str:
    """Return a secret in base32, as apps take it. `entropy` is exactly `ENTROPY_BYTES` random bytes (else ValueError)."""
    if len(entropy) != ENTROPY_BYTES:
        raise ValueError(f"an authenticator's secret takes {ENTROPY_BYTES} bytes")
    return base64.b32encode(entropy).decode("ascii")


def matching_step(secret: str, code: str, now: int) -> int | None:
    """Return the time step in which the code is right, or None: the current step is tried, then the one before it.

    `now` in epoch seconds. Takes any string: what is not six ASCII digits is right in no step (the library alone would take digits of
    other scripts). Whether the step was used before is for `pgs.domain.stepup` to say.
    """
    if _CODE.fullmatch(code) is None:
        return None
    current = now // STEP_S
    totp = TOTP(secret, interval=STEP_S)
    # The newer first: should one code be right in both, it then spends both.
    for step in (current, current - 1):
        if step >= 0 and hmac.compare_digest(totp.generate_otp(step).encode(), code.encode()):
            return step
    return None


def code_at(secret: str, now: int) -> str:
    """Return the code that an authenticator with the secret shows at `now`, in epoch seconds."""
    return TOTP(secret, interval=STEP_S).generate_otp(now // STEP_S)


def otpauth_uri(secret: str, account: str, issuer: str) -> str:
    """Return the URI that an app reads from a QR code. `account` and `issuer` are what it shows; neither may be empty."""
    return TOTP(secret, interval=STEP_S).provisioning_uri(name=account, issuer_name=issuer)
