"""Reads rake terms, and builds the statement that publishes them."""

import msgspec

from pgs.storage.reader import Reader
from pgs.storage.transactions import Stmt


class Terms(msgspec.Struct, frozen=True):
    """A version of the rake terms. `text` is Markdown; `published_at` in epoch seconds."""

    version: int
    text: str
    published_at: int


async def offered_terms(reader: Reader) -> Terms | None:
    """Return the terms on offer, which are the newest version; None if there are none."""
    row = await reader.one("terms.newest_terms")
    return Terms(*row) if row else None


def insert_terms(version: int, text: str, at: int) -> Stmt:
    """Return the statement that publishes a version."""
    return Stmt("terms.insert_terms", {"version": version, "text": text, "published_at": at}, 1)
