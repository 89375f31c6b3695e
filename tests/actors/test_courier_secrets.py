"""A webhook's secret is sealed in rows, opens with any key of the ring, and is in no text."""

from collections import Counter
from pathlib import Path

import pytest
import trio
from structlog.testing import capture_logs
from trio.testing import MockClock

from pgs.actors.delivery.endpoint import read_endpoint
from pgs.actors.kernel.mail import Crashed
from pgs.actors.messages.account.webhooks import RotateWebhookSecret, SaveWebhook
from pgs.config import Config
from pgs.keyfile import KeyFile
from pgs.storage.webhooks import find_endpoint, rotate_secret
from tests.actors.courier_core import core_with_endpoint, courier_core
from tests.actors.endpoints import GONE, OK, OTHER, URL, Endpoints
from tests.actors.people import ask
from tests.actors.raw_rows import select
from tests.actors.ready_core import at, until
from tests.virtual import SeededRng


async def test_a_secret_is_in_no_log_no_event_and_no_repr(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints(GONE)
    with capture_logs() as lines:
        async with courier_core(tmp_path, endpoints) as s:
            saved = await ask(s, SaveWebhook("ops", "test", URL))
            old = saved.secret
            await s.send_test()
            endpoints.broken = ValueError("a fault of ours, with a traceback")
            s.nudge()
            await until(1)
            endpoints.broken = None
            new = (await ask(s, RotateWebhookSecret("ops", "test"))).secret
            s.nudge(times=10)
            await until(20)
            assert not (await s.webhook()).enabled
            details = select(s, "select * from event")
            found = await find_endpoint(s.reader, "acme", "test")
            assert found is not None
            texts = [repr(details), repr(found), repr(await s.webhook()), repr(s.account())]
            rows = repr(select(s, "select * from webhook"))
            rows += repr(select(s, "select * from attempt"))
        for line in lines:  # tracebacks too, as the log would show them
            error = line.get("exc_info")
            texts += [repr(line), repr(getattr(error, "args", ""))]
    assert {"delivery_broke", "webhook_disabled"} <= {line["event"] for line in lines}
    assert len(details) > 3
    for secret in (old, new):
        assert secret.startswith("whsec_")
        for text in (*texts, rows):
            assert secret.removeprefix("whsec_") not in text
    assert found.sealed_secret not in repr(found)
    assert found.sealed_secret in rows


async def test_the_repr_of_an_endpoint_hides_its_secret(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with courier_core(tmp_path, Endpoints()) as s:
        secret = await s.save_webhook()
        known = await read_endpoint(s.parts, "acme", "test")
        assert known is not None
        assert known.secret == secret
        for text in (repr(known), str(known), repr(known.__rich_repr__())):
            assert secret.removeprefix("whsec_") not in text
            assert known.row.sealed_secret not in text


async def test_a_secret_opens_with_an_older_key_of_the_ring(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints()
    async with courier_core(tmp_path, endpoints) as s:
        secret = await s.save_webhook()
        sealed = await s.reader.one("webhooks.find_endpoint", partner_id="acme", environment="test")
        s.parts.keys.rotate()
        s.parts.keys.rotate()
        s.nudge()
        await until(1)
    async with courier_core(tmp_path, endpoints) as s:
        assert len(s.parts.ring.keys) == 3
        assert (
            await s.reader.one("webhooks.find_endpoint", partner_id="acme", environment="test")
            == sealed
        )
        s.nudge()
        await until(2)
        assert [post.signed_by(secret) for post in endpoints.posts] == [True, True]


async def test_a_secret_that_does_not_open_stops_only_the_nudges_of_its_endpoint(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints, counted = Endpoints(OK), Counter[str]()
    async with core_with_endpoint(tmp_path, endpoints):
        pass
    key_file = Config(data_dir=tmp_path).key_file
    key_file.unlink()
    KeyFile(key_file, SeededRng(9))  # a new ring replaces the old one
    async with courier_core(
        tmp_path, endpoints, seed=1, on_event=lambda name: counted.update([name])
    ) as s:
        live = await s.save_webhook(OTHER, "live")
        for number in range(10):
            s.nudge()
            match_id = (
                await s.match_of([await s.seat(f"{name}{number}") for name in "ab"][-1])
            ).match_id
            await s.decide(match_id, f"a{number}")
        with pytest.raises(Crashed):
            await s.send_test()
        s.nudge(environment="live")
        await trio.sleep(0.01)
        assert [post.url for post in endpoints.posts] == [OTHER]
        assert endpoints.posts[0].signed_by(live)
        assert counted["webhook_secret_unreadable"] >= 1
        assert counted["partner_degraded"] == 0
        assert ((await s.webhook()).enabled, await s.failures()) == (True, 0)
        new = (await ask(s, RotateWebhookSecret("ops", "test"))).secret
        s.nudge()
        await trio.sleep(0.01)
        assert endpoints.posts[-1].url == URL
        assert endpoints.posts[-1].signed_by(new)


async def test_a_secret_sealed_for_another_endpoint_does_not_open(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    endpoints = Endpoints()
    async with core_with_endpoint(tmp_path, endpoints) as s:
        await s.save_webhook(OTHER, "live")
    async with courier_core(tmp_path, endpoints) as s:
        live = await find_endpoint(s.reader, "acme", "live")
        assert live is not None
        await s.write_without_the_actors(rotate_secret("acme", "test", live.sealed_secret, at(0)))
        s.nudge()
        s.nudge(environment="live")
        await until(1)
        assert [post.url for post in endpoints.posts] == [OTHER]
