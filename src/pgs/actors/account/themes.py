"""The rule about the themes of frames, which members and test keys change."""

from msgspec.structs import replace

from pgs.actors.account.decisions import AccountDecision, Context, Write
from pgs.actors.messages.account.settings import SetTheme
from pgs.domain.accounts import Account
from pgs.domain.themes import StoredTheme, Theme, check_theme
from pgs.storage import themes as rows
from pgs.storage.reader import Reader


async def read_theme(reader: Reader, account: Account, command: SetTheme, now: int) -> Theme:
    """Return the theme that the command replaces."""
    return await rows.find_theme(reader, account.partner_id, command.environment)


def set_theme(
    account: Account, command: SetTheme, context: Context, known: Theme
) -> AccountDecision:
    """Decide to replace the theme of an environment."""
    refusal = check_theme(command.theme.theme)
    if refusal is not None:
        return refusal
    theme = replace(command.theme.theme, revision=known.revision + 1, updated_at=context.now)
    stored = StoredTheme(theme, command.theme.logo_base64)
    by_key = {} if command.key_id is None else {"keyId": command.key_id}
    return Write(
        account=account,
        stmts=(rows.put_theme(account.partner_id, command.environment, stored),),
        action="theme.set",
        detail={"environment": command.environment, "themeRevision": theme.revision, **by_key},
        reply=lambda _: stored,
    )
