"""The files that scripts/web builds, as they are served.

The build has a template of the document for each language, and the files that documents and host
pages load.
"""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

import msgspec

from pgs.http.compressed import compressed_forms
from pgs.http.embed.languages import LANGUAGES

HELPER: Final = "pgs-embed.js"
"""The script for host pages. Its name has no hash, since partners write its address into their
pages."""

# Files and the frames of partners have paths of the same form, `/embed/<name>`. Every file's name
# has a dot, and a partner's id has none, so the two cannot be confused.
_HASHED: Final = re.compile(r"pgs-frame-[\w-]{8,}\.(js|css)", re.ASCII)
_TYPES: Final = {"js": b"text/javascript; charset=utf-8", "css": b"text/css; charset=utf-8"}
_FOR_EVER: Final = b"public, max-age=31536000, immutable"
_FOR_AN_HOUR: Final = b"public, max-age=3600"


class Asset(msgspec.Struct, frozen=True):
    """A file, its compressed forms by coding, and the headers that go with all of them."""

    content: bytes
    compressed: Mapping[str, bytes]
    headers: tuple[tuple[bytes, bytes], ...]


class Assets(msgspec.Struct, frozen=True):
    """The build.

    `templates` has each language's document with the marks of `pgs.http.embed.policy`; empty if
    none was built. `files` are served under their names.
    """

    templates: Mapping[str, str]
    files: Mapping[str, Asset]


def read_assets(folder: Traversable | None = None) -> Assets:
    """Return the build in `folder`, by default the one in the package; empty if there is none."""
    return packaged_assets() if folder is None else _read(folder)


@cache
def packaged_assets() -> Assets:
    """Return the build in the package, which is read once; empty if there is none."""
    return _read(files("pgs").joinpath("web", "frame"))


def _read(folder: Traversable) -> Assets:
    templates = {
        language: document.read_text(encoding="utf-8")
        for language in LANGUAGES
        if (document := folder.joinpath(f"frame.{language}.html")).is_file()
    }
    if not templates:
        return Assets({}, {})
    found = {
        item.name: _asset(folder, item)
        for item in folder.iterdir()
        if item.name == HELPER or _HASHED.fullmatch(item.name)
    }
    return Assets(templates, found)


def _asset(folder: Traversable, item: Traversable) -> Asset:
    content = item.read_bytes()
    shared = item.name == HELPER
    headers = [
        (b"content-type", _TYPES[item.name.rpartition(".")[2]]),
        (b"cache-control", _FOR_AN_HOUR if shared else _FOR_EVER),
        (b"vary", b"accept-encoding"),
        # Pages of any origin load the helper, and may check its hash or import it as a module.
        # Only the frame loads the rest.
        (b"cross-origin-resource-policy", b"cross-origin" if shared else b"same-origin"),
    ]
    if shared:
        headers.append((b"access-control-allow-origin", b"*"))
    return Asset(content, compressed_forms(folder, item.name), tuple(headers))
