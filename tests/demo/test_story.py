"""The story ends with an error when an answer or a nudge is not as expected."""

import io
from pathlib import Path

import pytest
import trio
from rich.console import Console

from pgs.clock import SystemClock
from pgs.demo.backend import Backend
from pgs.demo.delayed_settlement import DelayedSettlement
from pgs.demo.inbox import Inbox
from pgs.demo.printing import Teller
from pgs.demo.story import Unexpected, tell
from pgs_client.trio_client import TrioClient
from tests.demo.service import demo_service
from tests.patience import PATIENCE_S

NO_KEY = "pgs_test_" + "0" * 46


@pytest.mark.parametrize(
    ("key", "complaint"), [("live_key", "test-bronze to cost 100"), (None, "not 401")]
)
async def test_an_unexpected_answer_ends_the_story(
    tmp_path: Path, key: str | None, complaint: str
) -> None:
    shown = io.StringIO()
    with trio.fail_after(PATIENCE_S):
        async with (
            demo_service(tmp_path) as (service, demo, inbox),
            TrioClient(service.base_url, getattr(demo, key) if key else NO_KEY) as client,
        ):
            backend = Backend(client)
            with pytest.raises(Unexpected, match=complaint):
                await tell(backend, Teller(Console(file=shown)), DelayedSettlement(), inbox, 0)
    assert "The tiers" in shown.getvalue()


async def test_a_nudge_that_does_not_verify_ends_the_story(tmp_path: Path) -> None:
    shown = io.StringIO()
    with trio.fail_after(PATIENCE_S):
        async with (
            demo_service(tmp_path) as (service, demo, inbox),
            TrioClient(service.base_url, demo.test_key) as client,
        ):
            inbox.secret = "whsec_" + "A" * 43
            with pytest.raises(
                Unexpected, match="the match's start that verifies, but the signature is not valid"
            ):
                await tell(
                    Backend(client),
                    Teller(Console(file=shown)),
                    DelayedSettlement(),
                    inbox,
                    0,
                )
    assert "REFUSED: the signature is not valid" in shown.getvalue()


async def test_a_nudge_that_does_not_come_ends_the_story(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pgs.demo.story.NUDGE_S", 0.05)
    elsewhere = Inbox(SystemClock(), 9)
    with trio.fail_after(PATIENCE_S):
        async with (
            demo_service(tmp_path) as (service, demo, _),
            TrioClient(service.base_url, demo.test_key) as client,
        ):
            with pytest.raises(Unexpected, match="a nudge for the match's start within"):
                await tell(
                    Backend(client),
                    Teller(Console(file=io.StringIO())),
                    DelayedSettlement(),
                    elsewhere,
                    0,
                )
