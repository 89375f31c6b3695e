"""The certificate authorities that outgoing connections trust."""

import os
import ssl

import certifi


def trusted_roots() -> ssl.SSLContext:
    """Return a context that checks certificates and host names.

    Making a context takes about 24 ms, so make it once and keep it. If `SSL_CERT_FILE` is set, only
    the roots in that file are trusted; otherwise the system's, or certifi's if the system has none.
    Raises OSError if the file cannot be read, ssl.SSLError if it contains no certificate.
    """
    chosen = os.environ.get("SSL_CERT_FILE")
    if chosen:
        # If OpenSSL read the variable itself, it would still trust the system's folder of roots.
        return ssl.create_default_context(cafile=chosen)
    context = ssl.create_default_context()
    paths = ssl.get_default_verify_paths()
    if not (paths.cafile or paths.capath):
        context.load_verify_locations(certifi.where())
    return context
