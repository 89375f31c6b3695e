"""E-mail addresses: which ones are taken, how they are stored, and when two are the same.

The service sends no mail. An address is only ever compared with the verified one of who signed in, so nothing is looked up.
"""

from typing import Final
from unicodedata import normalize

from email_validator import ValidatedEmail, validate_email

EMAIL_MAX: Final = 254
"""Characters of an e-mail address: RFC 5321's path of 256 without its brackets. Longer ones are
refused before any costlier check."""


def normalise_email(text: str) -> str | None:
    """Return the address as it is stored and shown, or None when it is not one. Takes any string.

    Its case stays before the `@`; the domain comes out in lower case. Names that never leave one network (`.local`, `.localhost`,
    `.invalid`, …) are refused; `.test` and `.example` are not, since accounts are tried out with them.
    """
    parsed = _parse(text)
    return None if parsed is None else parsed.normalized


def same_address(one: str, other: str) -> bool:
    """Return whether two addresses are the same person's: letters compare without case, domains in their ASCII form.

    What is not an address is the same as nothing, itself included.
    """
    key = _key(one)
    return key is not None and key == _key(other)


def email_domain(text: str) -> str | None:
    """Return the domain of an address in lower-case ASCII, or None when it is not an address. Takes any string."""
    parsed = _parse(text)
    return None if parsed is None else parsed.ascii_domain


def _key(text: str) -> tuple[str, str] | None:
    parsed = _parse(text)
    # `lower`, not `casefold`: folding makes one of `ß` and `ss`, which are two mailboxes.
    return None if parsed is None else (parsed.local_part.lower(), parsed.ascii_domain)


def _parse(text: str) -> ValidatedEmail | None:
    if len(text) > EMAIL_MAX or _poses_as_ascii(text.rpartition("@")[0]):
        return None
    try:
        parsed = validate_email(text, check_deliverability=False, test_environment=True)
    except ValueError:  # EmailNotValidError, and what encoding a lone surrogate raises
        return None
    # `test_environment` is what lets `.test` pass, and with it the bare name.
    return parsed if "." in parsed.ascii_domain else None


def _poses_as_ascii(local: str) -> bool:
    # A few characters have a normal form in ASCII, such as the Kelvin sign, which becomes `K`. Mail systems that do not normalise keep such
    # a mailbox apart from the ASCII one, so who owns the one must not pass for the owner of the other.
    return any(
        not character.isascii() and normalize("NFC", character).isascii() for character in local
    )
