"""When keys were last used: stored to within an hour, so that not every call has to write."""

from pgs.storage.reader import Reader
from pgs.storage.transactions import Stmt


async def key_uses_of(reader: Reader, partner_id: str) -> dict[str, int]:
    """Return when each key was last used, in epoch seconds, by key id; unused keys are absent."""
    return dict(await reader.all("key_uses.key_uses_of", partner_id=partner_id))


def put_key_use(partner_id: str, key_id: str, used_at: int) -> Stmt:
    """Return the statement that stores when a key was last used."""
    return Stmt(
        "key_uses.put_key_use", {"partner_id": partner_id, "key_id": key_id, "used_at": used_at}, 1
    )
