"""Requests on the operator's socket, sent as bytes."""

from pathlib import Path
from typing import Any

import msgspec
import trio

from pgs.operator.unix_socket import (
    connect,
    read_line,
)
from tests.patience import PATIENCE_S

LIST_TIERS = b'{"command":"tier.list","args":{}}\n'


async def talk(folder: Path, sent: bytes) -> dict[str, Any]:
    """Send bytes on a new connection; return the first answer."""
    async with await connect(folder) as stream:
        await stream.send_all(sent)
        with trio.fail_after(PATIENCE_S):
            line = await read_line(stream, bytearray(), 1 << 20)
    assert line is not None
    return msgspec.json.decode(line, type=dict[str, Any])


async def still_serves(folder: Path) -> bool:
    return "result" in await talk(folder, LIST_TIERS)
