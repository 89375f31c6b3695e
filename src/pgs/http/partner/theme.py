"""`GET /partner/theme` and `PUT /partner/theme`: the theme of an environment's frames."""

from pgs.actors.messages.account.settings import SetTheme
from pgs.domain.errors import Refusal
from pgs.domain.members import PLATFORM
from pgs.domain.themes import StoredTheme
from pgs.http.api.endpoint import Answer, Call, Endpoint
from pgs.http.api.themes import (
    THEME_BODY_BYTES,
    THEME_ERRORS,
    SentTheme,
    ThemeRecord,
    read_sent,
    theme_record,
)
from pgs.storage.themes import find_stored_theme


async def read_theme(call: Call) -> Answer:
    """Return the theme of the key's environment."""
    principal, reader = call.principal, call.services.parts.database.reader
    stored = await find_stored_theme(reader, principal.partner_id, principal.environment)
    return theme_record(principal.environment, stored)


async def write_theme(call: Call) -> Answer:
    """Replace the theme of the test environment, and return it."""
    sent: SentTheme = call.body
    stored = await read_sent(sent)
    if isinstance(stored, Refusal):
        return stored
    principal = call.principal
    command = SetTheme(PLATFORM, principal.environment, stored, principal.key.key_id)
    account = call.services.directory.partner(principal.partner_id).account()
    reply = await account.ask(command)
    return theme_record(principal.environment, reply) if isinstance(reply, StoredTheme) else reply


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/partner/theme",
        handler=read_theme,
        response=ThemeRecord,
        summary="The theme of the frames",
    ),
    Endpoint(
        method="PUT",
        path="/partner/theme",
        handler=write_theme,
        request=SentTheme,
        response=ThemeRecord,
        only_key="test",
        wrong_key="live_theme_not_writable",
        body_bytes=THEME_BODY_BYTES,
        errors=("live_theme_not_writable", *THEME_ERRORS),
        summary="Replace the theme of the test frames",
    ),
)
