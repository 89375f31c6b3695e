"""Admin writes that may have been carried out are never answered as if nothing was done."""

from pathlib import Path
from typing import Any

import pytest

from pgs.actors.kernel.mail import Crashed, Degraded, Interrupted, NotOwned, Overloaded
from pgs.actors.kernel.written import already_written
from pgs.actors.seating import switching_off
from pgs.http.api.responses import UNKNOWN_MESSAGE
from pgs.storage.transactions import Outcome, OutcomeUnknown, ReadFailed, Tx, WriterFull
from tests.faults.broken import FailingWriter, reads_fail, writer_of
from tests.journeys.admin_client import open_admin
from tests.journeys.client import Reply, check_refusal

NEW_KEY = {"environment": "test", "label": "one"}


class UnconfirmedWriter(FailingWriter):
    """Commits every transaction, and then says that it does not know."""

    async def submit(self, tx: Tx) -> Outcome:
        """Commit, and raise the error."""
        await self._writer.submit(tx)
        raise self._error("a test said so")


def _check_unknown(reply: Reply) -> None:
    check_refusal(reply, 500, None)
    assert reply.json["error"] == UNKNOWN_MESSAGE


async def test_a_key_whose_commit_was_not_confirmed_may_exist_and_the_answer_says_so(
    tmp_path: Path,
) -> None:
    async with open_admin(tmp_path) as admin:
        core = admin.service.core
        with writer_of(core, UnconfirmedWriter(core.parts.database.writer, OutcomeUnknown)):
            _check_unknown(await admin.call("POST", "keys", NEW_KEY))
        await admin.call_ok("POST", "origins", {"environment": "test", "origin": "https://a.test"})
        assert len((await admin.call_ok("GET", "keys"))["keys"]) == 1
        _, metrics = await admin.service.internal.get("/internal/metrics")
        assert b'pgs_events_total{event="store_outage"} 1.0' in metrics
        assert b'pgs_events_total{event="handler_crashed"} 0.0' in metrics


async def test_a_read_that_fails_after_the_write_does_not_hide_the_write(tmp_path: Path) -> None:
    async with open_admin(tmp_path) as admin:
        with reads_fail(admin.service.core, "accounts.open_seats"):
            _check_unknown(await admin.call("POST", "account/domain", {"domain": "acme.example"}))
        assert (await admin.call_ok("GET", "account"))["adminDomain"] == "acme.example"
        _, metrics = await admin.service.internal.get("/internal/metrics")
        assert b'pgs_events_total{event="read_failed"} 1.0' in metrics


@pytest.mark.parametrize("error", [Overloaded, NotOwned, Degraded])
async def test_an_account_that_was_switched_off_is_not_answered_as_if_nothing_was_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    async def close_play(*_: Any) -> int:
        raise error("a test said so")

    async with open_admin(tmp_path) as admin:
        with monkeypatch.context() as broken:
            broken.setattr(switching_off, "close_play", close_play)
            _check_unknown(await admin.call("POST", "account/deactivate"))
        assert (await admin.call_ok("GET", "account"))["active"] is False


@pytest.mark.parametrize(
    "error",
    [
        Overloaded("full"),
        NotOwned("acme"),
        Degraded("broke too often"),
        WriterFull("full"),
        OutcomeUnknown("lost"),
        ReadFailed("seats.find", OSError("gone")),
        Crashed("ReadFailed", "seats"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_after_a_commit_no_error_says_that_nothing_was_done(error: Exception) -> None:
    with pytest.raises(Interrupted) as raised, already_written():
        raise error
    assert raised.value.noun is None


def test_after_a_commit_a_bug_stays_a_bug() -> None:
    with pytest.raises(Crashed) as raised, already_written():
        raise Crashed("ZeroDivisionError")
    assert type(raised.value) is Crashed
