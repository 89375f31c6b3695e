"""The certificate authorities that outgoing connections trust."""

import os
import ssl
from functools import cache

import certifi


def trusted_roots() -> ssl.SSLContext:
    """Return a context that checks certificates and host names, the same for the whole process.

    If `SSL_CERT_FILE` is set, only the roots in that file are trusted. Otherwise the system's roots
    are trusted, or certifi's if the system has none. Raises OSError if the file cannot be read,
    ssl.SSLError if it contains no certificate.
    """
    return _kept_roots(os.environ.get("SSL_CERT_FILE"))


def read_roots(chosen: str | None) -> ssl.SSLContext:
    """Return a new context that trusts the roots of a file, or those of the system."""
    if chosen:
        # If OpenSSL read the variable itself, it would still trust the system's folder of roots.
        return ssl.create_default_context(cafile=chosen)
    context = ssl.create_default_context()
    paths = ssl.get_default_verify_paths()
    if not (paths.cafile or paths.capath):
        context.load_verify_locations(certifi.where())
    return context


# OpenSSL takes 24 ms or more to read the roots of a system.
_kept_roots = cache(read_roots)
