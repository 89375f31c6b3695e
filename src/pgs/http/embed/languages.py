"""Chooses the language of the frame's document."""

from collections.abc import Sequence
from typing import Final

LANGUAGES: Final = ("en", "es", "pt", "fr", "de", "ar")
"""The languages of the frame. Each has its own document and script. A player who prefers none of
them gets the first."""


def language_of(asked: Sequence[str], accepted: str) -> str:
    """Return the language that a document is written in.

    `asked`: the language tags in the address, such as `pt-BR`. `accepted`: the request's
    `Accept-Language` (RFC 9110, section 12.5.4), which counts only if no tag in the address has a
    document. Regions are ignored, and so are tags that cannot be parsed.
    """
    weighed = [(_weight(part), _primary(part)) for part in accepted.split(",")]
    # The sort is stable: of two languages with the same weight, the one named first is taken.
    wanted = sorted((one for one in weighed if one[0] > 0), key=lambda one: -one[0])
    known = [*map(_primary, asked), *(language for _, language in wanted)]
    return next((language for language in known if language in LANGUAGES), LANGUAGES[0])


def _primary(tag: str) -> str:
    return tag.partition(";")[0].strip().lower().partition("-")[0]


def _weight(part: str) -> float:
    """Return the weight of a part of the header, 0 to 1; 0 if it is malformed."""
    name, _, value = part.partition(";")[2].strip().partition("=")
    if not name:
        return 1.0
    value = value.strip()
    digits = value.replace(".", "", 1)
    if name.strip().lower() != "q" or len(value) > 5 or not (digits.isascii() and digits.isdigit()):
        return 0.0
    return min(float(value), 1.0)
