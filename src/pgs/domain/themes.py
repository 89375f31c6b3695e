"""The theme of a partner's frames: its defaults, and which values its fields can take."""

import re
from typing import Final

import msgspec

from pgs.domain.environments import Environment
from pgs.domain.errors import Refusal, refuse
from pgs.domain.names import DISPLAY_NAME_MAX, fault_of_name

LOGO_MAX_BYTES: Final = 262_144
"""Bytes of a logo's file, as the interface promises. A logo is small on the screen, and every
player's browser loads it."""

LOGO_MAX_SIDE: Final = 4096
"""Pixels of a logo's longer side, as the interface promises. Decoding needs 64 MiB at most."""

LEVEL_AA: Final = 4.5
"""Points of contrast that a text must have with its background. Contrast goes from 1 to 21 points;
`contrast` computes it. Level AA of WCAG 2.2, success criterion 1.4.3, sets this number."""

RADIUS_MAX: Final = 32
"""Pixels of a corner's radius, as the interface promises. A greater one would cut into the text."""


_COLOUR = re.compile(r"#[0-9A-Fa-f]{6}", re.ASCII)


class Logo(msgspec.Struct, frozen=True):
    """A logo's file without its content. `size` in bytes, `sha256` in hex."""

    mime: str
    sha256: str
    size: int


class Theme(msgspec.Struct, frozen=True):
    """How the frames of an environment look.

    An environment without a row has the default theme, revision 0.
    """

    display_name: str = ""
    primary_color: str = "#1f5fd1"
    background_color: str = "#ffffff"
    text_color: str = "#1c1f24"
    corner_radius: int = 8
    show_amounts: bool = True
    logo: Logo | None = None
    revision: int = 0
    updated_at: int | None = None


class StoredTheme(msgspec.Struct, frozen=True):
    """A theme with the content of its logo in base64."""

    theme: Theme
    logo_base64: str | None = None


DEFAULT: Final = Theme()


def check_theme(theme: Theme) -> Refusal | None:
    """Return why a field cannot have its value, or None. The logo is not checked here."""
    name = theme.display_name
    fault = (
        f"has more than {DISPLAY_NAME_MAX} characters"
        if len(name) > DISPLAY_NAME_MAX
        else fault_of_name(name)
    )
    if fault is not None:
        return _invalid("displayName", fault)
    for field, colour in (
        ("primaryColor", theme.primary_color),
        ("backgroundColor", theme.background_color),
        ("textColor", theme.text_color),
    ):
        if not _COLOUR.fullmatch(colour):
            return _invalid(field, "must be # and six hexadecimal digits")
    if not 0 <= theme.corner_radius <= RADIUS_MAX:
        return _invalid("cornerRadius", f"must be a whole number from 0 to {RADIUS_MAX}")
    reached = contrast(theme.text_color, theme.background_color)
    if reached < LEVEL_AA:
        return _invalid(
            "textColor",
            f"cannot be read on backgroundColor: {theme.text_color} on {theme.background_color} "
            f"has a contrast of {int(reached * 100) / 100}:1, and {LEVEL_AA}:1 is needed",
        )
    return None


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, from 1 to 21, as WCAG 2.2 defines it."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    """Return the relative luminance of a colour, as WCAG 2.2 defines it."""
    red, green, blue = (_linear(int(colour[at : at + 2], 16) / 255) for at in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(value: float) -> float:
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


def _invalid(field: str, problem: str) -> Refusal:
    refusal = refuse("theme_field_invalid", parameter=field)
    return refusal.saying(f"Field `{field}` {problem}.")


def logo_path(partner_id: str, environment: Environment, sha256: str) -> str:
    """Return the path at which a logo is served. The path changes with the content of the logo."""
    owner = partner_id if environment == "live" else f"test/{partner_id}"
    return f"/embed/{owner}/logo/{sha256}"
