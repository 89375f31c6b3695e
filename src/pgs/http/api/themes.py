"""Themes as they are sent, as their partner sees them, and as the frame gets them."""

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from pgs.domain.environments import Environment
from pgs.domain.errors import Refusal
from pgs.domain.themes import DEFAULT, StoredTheme, Theme, check_theme, logo_path
from pgs.http.api.body import SafeInt
from pgs.http.api.logos import SentLogo, check_logo
from pgs.http.api.responses import or_unset
from pgs.http.api.services import Services
from pgs.storage.themes import find_theme

THEME_BODY_BYTES = 1 << 20
"""Bytes of a body that writes a theme, as the interface promises. A logo in base64 is a third
longer than its file."""

THEME_ERRORS = (
    "theme_field_invalid",
    "logo_unsupported_type",
    "logo_malformed",
    "logo_too_large",
    "logo_not_that_image",
)
"""The reasons with which a theme is refused."""


class SentTheme(msgspec.Struct, frozen=True, rename="camel"):
    """A whole theme. Fields that are left out get their default values."""

    display_name: str = DEFAULT.display_name
    primary_color: str = DEFAULT.primary_color
    background_color: str = DEFAULT.background_color
    text_color: str = DEFAULT.text_color
    corner_radius: SafeInt = DEFAULT.corner_radius
    show_amounts: bool = DEFAULT.show_amounts
    logo: SentLogo | None = None


class LogoRecord(msgspec.Struct, frozen=True, rename="camel"):
    """A stored logo. `bytes`: the length of its file."""

    mime: str
    base64: str
    sha256: str
    bytes: int


class LogoAddress(msgspec.Struct, frozen=True, rename="camel"):
    """Where the frame finds the logo. The address changes with the file."""

    mime: str
    sha256: str
    bytes: int
    url: str


class ShownTheme(msgspec.Struct, frozen=True, rename="camel"):
    """The fields of a theme that the frame and the partner both see."""

    environment: str
    display_name: str
    primary_color: str
    background_color: str
    text_color: str
    corner_radius: int
    show_amounts: bool


class FrameTheme(ShownTheme, frozen=True, rename="camel"):
    """A theme as the frame gets it. `updated_at` in epoch seconds, absent for the default theme."""

    logo: LogoAddress | None
    revision: int
    updated_at: int | UnsetType = UNSET


class ThemeRecord(ShownTheme, frozen=True, rename="camel"):
    """A theme as its partner sees it."""

    logo: LogoRecord | None
    revision: int
    updated_at: int | UnsetType = UNSET


async def read_sent(sent: SentTheme) -> StoredTheme | Refusal:
    """Return the theme that a body describes, or why it is refused. The logo is checked last."""
    theme = Theme(
        sent.display_name,
        sent.primary_color,
        sent.background_color,
        sent.text_color,
        sent.corner_radius,
        sent.show_amounts,
    )
    refusal = check_theme(theme)
    if refusal is not None or sent.logo is None:
        return refusal or StoredTheme(theme)
    logo = await check_logo(sent.logo)
    if isinstance(logo, Refusal):
        return logo
    return StoredTheme(msgspec.structs.replace(theme, logo=logo), sent.logo.base64)


def _shown(environment: Environment, theme: Theme) -> dict[str, Any]:
    return {
        "environment": environment,
        "display_name": theme.display_name,
        "primary_color": theme.primary_color,
        "background_color": theme.background_color,
        "text_color": theme.text_color,
        "corner_radius": theme.corner_radius,
        "show_amounts": theme.show_amounts,
    }


def theme_record(environment: Environment, stored: StoredTheme) -> ThemeRecord:
    """Return a theme as its partner sees it."""
    theme, logo = stored.theme, stored.theme.logo
    return ThemeRecord(
        **_shown(environment, theme),
        logo=(
            None
            if logo is None or stored.logo_base64 is None
            else LogoRecord(logo.mime, stored.logo_base64, logo.sha256, logo.size)
        ),
        revision=theme.revision,
        updated_at=or_unset(theme.updated_at),
    )


async def frame_theme(services: Services, partner_id: str, environment: Environment) -> FrameTheme:
    """Return the theme of an environment as the frame gets it. Raises `StoreOutage`."""
    theme = await find_theme(services.parts.database.reader, partner_id, environment)
    address = None
    if theme.logo is not None:
        path = logo_path(partner_id, environment, theme.logo.sha256)
        address = LogoAddress(
            theme.logo.mime, theme.logo.sha256, theme.logo.size, services.base_url + path
        )
    return FrameTheme(
        **_shown(environment, theme),
        logo=address,
        revision=theme.revision,
        updated_at=or_unset(theme.updated_at),
    )
