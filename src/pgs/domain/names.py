"""Ids and names that come from outside: which ids are valid, and how long names may be."""

import re
import unicodedata
from typing import Final

LABEL_MAX: Final = 64
"""Characters of an API key's label, as the interface promises. A list shows it on one line."""

DISPLAY_NAME_MAX: Final = 64
"""Characters of a player's or a theme's display name, as the interface promises. The frame shows it
on one line."""

PARTNER_REF_MAX: Final = 128
"""Characters of a partner's own reference to a seat, as the interface promises. Any order number or
UUID fits."""

# A frame's path is `/embed/<partner>` in live and `/embed/test/<partner>` in test. If a partner's
# id were `test` or `live`, the path of its live frame would be `/embed/test` or `/embed/live`.
# People would take the id in that path for the environment.
RESERVED_PARTNER_IDS: Final = frozenset({"test", "live"})

# Characters that change how the text around them is shown, or that cannot be seen: bidirectional
# controls (Unicode Standard Annex 9, section 2), zero-width characters, and line separators.
_INVISIBLE = re.compile("[\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff]")

_PARTNER_ID = re.compile(r"[a-z][a-z0-9-]{2,31}", re.ASCII)
_CATALOGUE_ID = re.compile(r"[a-z0-9-]{1,32}", re.ASCII)
PLAYER_ID: Final = "[A-Za-z0-9_-]{1,64}"
"""The pattern of a player's id, as the interface promises."""

IDEMPOTENCY_KEY: Final = "[A-Za-z0-9_.:-]{1,128}"
"""The pattern of an idempotency key, as the interface promises."""

_PLAYER_ID = re.compile(PLAYER_ID, re.ASCII)
_IDEMPOTENCY_KEY = re.compile(IDEMPOTENCY_KEY, re.ASCII)


def is_partner_id(text: str) -> bool:
    """Return whether `text` can name a partner.

    A partner's id has 3 to 32 characters of a-z, 0-9 and -, begins with a letter, and is not
    reserved.
    """
    return _PARTNER_ID.fullmatch(text) is not None and text not in RESERVED_PARTNER_IDS


def is_tier_id(text: str) -> bool:
    """Return whether `text` can name a tier: 1 to 32 characters of a-z, 0-9 and -."""
    return _CATALOGUE_ID.fullmatch(text) is not None


def is_player_id(text: str) -> bool:
    """Return whether `text` matches `PLAYER_ID`, as a player's id must."""
    return _PLAYER_ID.fullmatch(text) is not None


def is_idempotency_key(text: str) -> bool:
    """Return whether `text` matches `IDEMPOTENCY_KEY`, as an idempotency key must."""
    return _IDEMPOTENCY_KEY.fullmatch(text) is not None


def fault_of_text(text: str) -> str | None:
    """Return what is wrong with a text that people write and read, or None. Takes any string."""
    if any(unicodedata.category(one) == "Cc" for one in text):
        return "holds a control character, such as a line feed or a tab: remove it"
    return None


def fault_of_name(text: str) -> str | None:
    """Return what is wrong with a name that is shown to others, or None. Takes any string.

    A name that is not empty must be visible. It must have no characters that are invisible or
    reorder its text, because two different names could then look the same.
    """
    if _INVISIBLE.search(text):
        return "holds a character that cannot be seen or that reverses the text: remove it"
    if text and not text.strip():
        return "consists of spaces only: leave it out, or give a name"
    return fault_of_text(text)
