"""E-mail addresses: which are accepted, how they are stored, and when two are the same.

The service sends no mail. It only compares an address with the verified address of somebody who
signs in, so it makes no DNS look-ups.
"""

from typing import Final
from unicodedata import normalize

from email_validator import ValidatedEmail, validate_email

EMAIL_MAX: Final = 254
"""Characters of an e-mail address: RFC 5321's path of 256 without its brackets. Longer addresses
are refused before any costlier check."""


def normalise_email(text: str) -> str | None:
    """Return the address as it is stored and shown, or None if `text` is not an address.

    Takes any string. The part before the `@` keeps its case; the domain is in lower case. Domains
    for special use (`.local`, `.localhost`, `.invalid`, …) are refused. `.test` and `.example` are
    accepted, because people try accounts out with them.
    """
    parsed = _parse(text)
    return None if parsed is None else parsed.normalized


def same_address(one: str, other: str) -> bool:
    """Return whether two addresses belong to the same person.

    Letters are compared without case, domains in their ASCII form. False if either text is not an
    address, even if both texts are equal.
    """
    key = _key(one)
    return key is not None and key == _key(other)


def email_domain(text: str) -> str | None:
    """Return the domain of an address in lower-case ASCII, or None. Takes any string."""
    parsed = _parse(text)
    return None if parsed is None else parsed.ascii_domain


def _key(text: str) -> tuple[str, str] | None:
    parsed = _parse(text)
    # Not `casefold`, which makes `ß` and `ss` equal: those are two mailboxes.
    return None if parsed is None else (parsed.local_part.lower(), parsed.ascii_domain)


def _parse(text: str) -> ValidatedEmail | None:
    if len(text) > EMAIL_MAX or _poses_as_ascii(text.rpartition("@")[0]):
        return None
    try:
        parsed = validate_email(text, check_deliverability=False, test_environment=True)
    except ValueError:  # also raised for a lone surrogate
        return None
    # `test_environment` accepts `.test`, but also a name without a dot.
    return parsed if "." in parsed.ascii_domain else None


def _poses_as_ascii(local: str) -> bool:
    # A few characters have a normal form in ASCII: the Kelvin sign becomes `K`. For a mail system
    # that does not normalise, the two spellings are two mailboxes, and the owner of one must not
    # pass for the owner of the other.
    return any(
        not character.isascii() and normalize("NFC", character).isascii() for character in local
    )
