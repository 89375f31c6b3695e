"""An account's admin domain. Once it is set, only addresses of exactly that domain are invited."""

from pgs.domain.emails import email_domain, normalise_email
from pgs.domain.errors import Refusal, refuse
from pgs.domain.hosts import is_dotted_name, is_public_suffix


def normalise_domain(text: str) -> str | None:
    """Return the domain in lower-case ASCII, or None if it cannot be an admin domain.

    Takes any string. These are refused: a text that is not a domain name with a dot; a domain for
    special use, such as `.local` (see `normalise_email`); a spelling that IDNA would have to map;
    and a public suffix (`com`, `co.uk`, `github.io`), which no single organisation can own. A
    top-level domain may be missing from the list of public suffixes.
    """
    # Parse the domain as part of an e-mail address. It then has the same spelling as the domain
    # that `email_domain` returns for a person's address, and `inside` can compare the two.
    address = f"x@{text}"
    domain = email_domain(address)
    if domain is None or not is_dotted_name(domain) or is_public_suffix(domain):
        return None
    # Letters of other scripts may be written as they are or as an A-label (`xn--`). A spelling
    # that IDNA would have to map (`acme。com`) is refused.
    return domain if text.lower() == domain or address.lower() == normalise_email(address) else None


def inside(email: str, domain: str) -> bool:
    """Return whether an address is in exactly `domain`, which `normalise_domain` has returned."""
    return email_domain(email) == domain


def set_domain(text: str, current: str | None, caller_email: str) -> str | Refusal:
    """Return the domain to set, or why it cannot be set.

    `current` is the account's domain, or None. The caller's address must be in the new domain.
    """
    domain = normalise_domain(text)
    if domain is None:
        return refuse("invalid_domain")
    if current is not None:
        return refuse("domain_already_set")
    return domain if inside(caller_email, domain) else refuse("address_outside_domain")
