"""The story checks what it shows."""

import io
from pathlib import Path

import httpcore
import pytest
import trio
from rich.console import Console

from pgs.demo.backend import Backend
from pgs.demo.settlement import StagedSettlement
from pgs.demo.story import Unexpected, tell
from pgs.demo.telling import Teller
from tests.demo.stage import demo_service


@pytest.mark.parametrize(("key", "complaint"), [("live_key", "test-bronze costs 100"), (None, "not 401")])
async def test_an_answer_that_is_not_as_told_ends_the_story(tmp_path: Path, key: str | None, complaint: str) -> None:
    shown = io.StringIO()
    with trio.fail_after(30):
        async with demo_service(tmp_path) as (service, demo), httpcore.AsyncConnectionPool() as pool:
            backend = Backend(pool, service.base_url, getattr(demo, key) if key else "no key")
            with pytest.raises(Unexpected, match=complaint):
                await tell(backend, Teller(Console(file=shown)), StagedSettlement())
    assert "The ladder" in shown.getvalue()
