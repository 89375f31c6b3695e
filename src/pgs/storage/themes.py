"""Reads themes and their logos, and builds the statement that writes them."""

import msgspec

from pgs.domain.environments import Environment
from pgs.domain.themes import DEFAULT, Logo, StoredTheme, Theme
from pgs.storage.reader import Query, Reader, Row
from pgs.storage.transactions import Params, Stmt


class LogoFile(msgspec.Struct, frozen=True):
    """A logo with its content in base64."""

    mime: str
    sha256: str
    base64: str


async def find_theme(reader: Reader, partner_id: str, environment: Environment) -> Theme:
    """Return the theme of an environment without the content of its logo."""
    row = await reader.one("themes.find_theme", partner_id=partner_id, environment=environment)
    return _theme(row)


async def find_stored_theme(
    reader: Reader, partner_id: str, environment: Environment
) -> StoredTheme:
    """Return the theme of an environment with the content of its logo."""
    params: Params = {"partner_id": partner_id, "environment": environment}
    themes, logos = await reader.together(
        Query("themes.find_theme", params), Query("themes.find_logo", params)
    )
    return StoredTheme(_theme(themes[0]), logos[0][2]) if themes else StoredTheme(DEFAULT)


async def find_logo(reader: Reader, partner_id: str, environment: Environment) -> LogoFile | None:
    """Return the logo of an environment, or None."""
    row = await reader.one("themes.find_logo", partner_id=partner_id, environment=environment)
    return None if row is None or row[0] is None else LogoFile(*row)


def put_theme(partner_id: str, environment: Environment, stored: StoredTheme) -> Stmt:
    """Return the statement that writes a theme.

    If the environment already has a theme, `stored` must have the next revision. Otherwise the
    statement conflicts.
    """
    theme = stored.theme
    logo = theme.logo
    return Stmt(
        "themes.put_theme",
        {
            "partner_id": partner_id,
            "environment": environment,
            "display_name": theme.display_name,
            "primary_color": theme.primary_color,
            "background_color": theme.background_color,
            "text_color": theme.text_color,
            "corner_radius": theme.corner_radius,
            "show_amounts": int(theme.show_amounts),
            "logo_mime": None if logo is None else logo.mime,
            "logo_sha256": None if logo is None else logo.sha256,
            "logo_size": None if logo is None else logo.size,
            "logo_base64": stored.logo_base64,
            "revision": theme.revision,
            "updated_at": theme.updated_at,
        },
        1,
    )


def _theme(row: Row | None) -> Theme:
    if row is None:
        return DEFAULT
    name, primary, background, text, radius, amounts, mime, sha256, size, revision, at = row
    logo = None if mime is None else Logo(mime, sha256, size)
    return Theme(name, primary, background, text, radius, bool(amounts), logo, revision, at)
