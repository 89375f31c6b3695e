"""The themes of the frames, by environment."""

from msgspec.structs import replace

from pgs.actors.messages.account.settings import SetTheme
from pgs.domain.errors import Refusal
from pgs.domain.themes import StoredTheme
from pgs.http.admin.authorization import AdminCall, change
from pgs.http.admin.endpoints import admin_read, admin_write
from pgs.http.admin.paths import environment_of
from pgs.http.api.endpoint import Answer
from pgs.http.api.themes import (
    THEME_BODY_BYTES,
    THEME_ERRORS,
    SentTheme,
    ThemeRecord,
    read_sent,
    theme_record,
)
from pgs.storage.themes import find_stored_theme


async def read_theme(call: AdminCall) -> Answer:
    reader, environment = call.services.parts.database.reader, environment_of(call)
    stored = await find_stored_theme(reader, call.principal.account.partner_id, environment)
    return theme_record(environment, stored)


async def write_theme(call: AdminCall) -> Answer:
    """Replace the theme of an environment, and return it."""
    sent: SentTheme = call.body
    stored = await read_sent(sent)
    if isinstance(stored, Refusal):
        return stored
    environment = environment_of(call)
    reply = await change(call, SetTheme, environment, stored)
    return theme_record(environment, reply) if isinstance(reply, StoredTheme) else reply


_WRITE = admin_write(
    "PUT",
    "theme/{env}",
    write_theme,
    ThemeRecord,
    "Replace the theme of an environment",
    request=SentTheme,
    errors=THEME_ERRORS,
)

ENDPOINTS = (
    admin_read("theme/{env}", read_theme, ThemeRecord, "The theme of an environment"),
    replace(_WRITE, body_bytes=THEME_BODY_BYTES),
)
