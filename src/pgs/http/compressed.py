"""The compressed forms of built files, and the form that a client accepts."""

import gzip
from collections.abc import Mapping
from importlib.resources.abc import Traversable

from pgs.http.transport.heads import takes_coding


def compressed_forms(folder: Traversable, name: str) -> dict[str, bytes]:
    """Return a file's compressed forms by the name of their coding.

    Brotli comes first, because `form_for` takes the first one that a client accepts, and Brotli's
    form is usually the smallest.
    """
    # scripts/web has made the Brotli form, because Python's standard library cannot.
    by_brotli = folder.joinpath(f"{name}.br")
    forms = {"br": by_brotli.read_bytes()} if by_brotli.is_file() else {}
    forms["gzip"] = gzip.compress(folder.joinpath(name).read_bytes(), mtime=0)
    return forms


def form_for(
    accepted: bytes, content: bytes, forms: Mapping[str, bytes]
) -> tuple[bytes, str | None]:
    """Return the bytes to send for a file, and their coding, None for uncompressed bytes.

    `accepted`: the value of Accept-Encoding.
    """
    for coding, compressed in forms.items():
        if takes_coding(accepted, coding.encode()):
            return compressed, coding
    return content, None
