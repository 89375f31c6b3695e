"""The three rate buckets at exact times, on a virtual clock, through edge and dispatcher."""

import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest
import trio
import trio.testing

from pgs.actors.messages.account.keys import KeyMinted, MintKey, RevokeKey
from pgs.actors.messages.account.lifecycle import CreatePartner, PartnerCreated
from pgs.actors.messages.account.settings import SetRate
from pgs.app import open_core
from pgs.config import Config
from pgs.domain.environments import Environment
from pgs.domain.keys import ENTROPY_BYTES, make_key
from pgs.domain.members import PLATFORM
from pgs.http.api.dispatcher import Dispatcher
from pgs.http.api.services import Services
from pgs.http.pages import make_pages
from pgs.http.partner import ENDPOINTS
from pgs.http.transport.asgi import App, Message
from pgs.http.transport.edge import Edge
from tests.virtual import SeededRng, clock

BURST, RATE = 300, 80


class Answer(msgspec.Struct):
    """A response. Header names are in lower case."""

    status: int
    headers: dict[str, str]
    body: Any

    @property
    def left(self) -> str:
        """The header RateLimit, which states the level of the bucket."""
        return self.headers["ratelimit"]


class AppClient:
    """Calls the application as the listener does, but without a socket, in virtual time."""

    def __init__(self, app: App, keys: dict[tuple[str, Environment], str], core: Any) -> None:
        self.app, self.keys, self.core = app, keys, core

    async def call(
        self, key: str | None, path: str = "/partner/me", method: str = "GET", **headers: str
    ) -> Answer:
        sent: list[Message] = []
        given = [
            (b"host", b"h"),
            *((name.encode(), value.encode()) for name, value in headers.items()),
        ]
        if key is not None:
            given.append((b"authorization", b"Bearer " + key.encode()))
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
        }

        bodies: list[Message] = [{"type": "http.request", "body": b"", "more_body": False}]

        async def receive() -> Message:
            if not bodies:
                await trio.sleep_forever()
            return bodies.pop()

        async def send(message: Message) -> None:
            sent.append(message)

        await self.app(
            scope | {"headers": given, "scheme": "http", "client": None, "server": None},
            receive,
            send,
        )
        names = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        return Answer(
            sent[0]["status"],
            names,
            json.loads(b"".join(message.get("body", b"") for message in sent[1:])),
        )

    async def drain(self, key: str, calls: int) -> Counter[int]:
        """Make `calls` calls at one instant; return how many got which status."""
        return Counter([(await self.call(key)).status for _ in range(calls)])


@asynccontextmanager
async def open_app_client(
    folder: Path, process_rate: int = 20_000, **settings: Any
) -> AsyncIterator[AppClient]:
    """Open a service with the partners `acme` and `bravo`, each with a key of each environment."""
    ids = count()
    config = Config(data_dir=folder, process_rate=process_rate, **settings)
    async with open_core(config, clock=clock(), rng=SeededRng(), inline=True) as core:
        keys: dict[tuple[str, Environment], str] = {}
        for partner in ("acme", "bravo"):
            account = core.directory.partner(partner).account()
            assert isinstance(
                await account.ask(CreatePartner(partner, "ops@acme.example")), PartnerCreated
            )
            for environment in ("test", "live"):
                minted = await account.ask(MintKey("ops", environment, "k"))
                assert isinstance(minted, KeyMinted)
                keys[partner, environment] = minted.text
        app = Dispatcher(Services(core, "http://h", config.restricted_to), ENDPOINTS, make_pages())
        yield AppClient(
            Edge(app, new_request_id=lambda: f"req_{next(ids):032x}", current_version=1), keys, core
        )


def forged(number: int) -> str:
    """Return a key of the right format that was never issued."""
    return make_key("test", "acme", number.to_bytes(ENTROPY_BYTES, "big"))


async def test_a_burst_of_300_then_80_a_second_to_the_instant(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    async with open_app_client(tmp_path) as f:
        key = f.keys["acme", "test"]
        assert await f.drain(key, BURST + 5) == {200: BURST, 429: 5}
        began = trio.current_time()
        for token in range(1, 40):
            await trio.sleep(began + token / RATE - 0.000_01 - trio.current_time())
            assert (await f.call(key)).status == 429, f"token {token} came too early"
            await trio.sleep(began + token / RATE - trio.current_time())
            assert (await f.call(key)).status == 200, f"token {token} came too late"
        await trio.sleep(10)
        assert await f.drain(key, BURST + 1) == {200: BURST, 429: 1}


async def test_the_headers_tell_the_budget_and_a_refusal_when_to_come_back(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    async with open_app_client(tmp_path) as f:
        key = f.keys["acme", "test"]
        first = await f.call(key)
        assert first.headers["ratelimit-policy"] == '"partner";q=300;w=4'
        assert first.left == '"partner";r=299;t=1'
        await f.drain(key, 298)
        assert (await f.call(key)).left == '"partner";r=0;t=4'
        refused = await f.call(key)
        assert (refused.status, refused.body["reason"]) == (429, "rate_limited")
        assert refused.headers["retry-after"] == "1"
        assert refused.left == '"partner";r=0;t=4'
        assert refused.headers["x-service-api-version"] == "1"


async def test_both_keys_of_a_partner_draw_from_one_bucket_and_no_other_partner_does(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    async with open_app_client(tmp_path) as f:
        await f.drain(f.keys["acme", "test"], BURST)
        assert (await f.call(f.keys["acme", "live"])).status == 429
        assert (await f.call(f.keys["bravo", "test"])).left == '"partner";r=299;t=1'


async def test_a_revoked_key_still_draws_from_its_partners_bucket_but_gets_no_rate_headers(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    async with open_app_client(tmp_path) as f:
        account = f.core.parts.registry.account("acme")
        gone = next(key for key in account.keys if key.environment == "live")
        await f.core.directory.partner("acme").account().ask(RevokeKey("ops", gone.key_id))
        refused = await f.call(f.keys["acme", "live"])
        assert (refused.status, refused.body["reason"]) == (401, "invalid_key")
        assert "ratelimit" not in refused.headers
        assert (await f.call(f.keys["acme", "test"])).left == '"partner";r=298;t=1'


async def test_forged_keys_share_a_bucket_of_their_own_and_cost_no_partner_anything(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    async with open_app_client(tmp_path, process_rate=10) as f:
        statuses = Counter([(await f.call(forged(number))).status for number in range(BURST + 50)])
        assert statuses == {401: BURST, 429: 50}
        refused = await f.call(forged(1))
        assert "ratelimit" not in refused.headers
        assert refused.headers["retry-after"] == "1"
        # Neither the partner's bucket nor the process's, which has room for ten, lost a call.
        assert await f.drain(f.keys["acme", "test"], 10) == {200: 10}
        await trio.sleep(1 / RATE)
        assert (await f.call(forged(2))).status == 401
        assert (await f.call(forged(3))).status == 429


@pytest.mark.parametrize("key", ["", "pgs_test_short", "pgs_test_" + "A" * 46])
async def test_text_that_cannot_be_a_key_draws_from_no_bucket(
    tmp_path: Path, autojump_clock: trio.testing.MockClock, key: str
) -> None:
    async with open_app_client(tmp_path) as f:
        assert Counter([(await f.call(key)).status for _ in range(BURST + 50)]) == {401: BURST + 50}
        assert (await f.call(forged(1))).status == 401


async def test_the_process_bucket_bounds_all_partners_together_and_is_drawn_from_second(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    async with open_app_client(tmp_path, process_rate=20) as f:
        acme, bravo = f.keys["acme", "test"], f.keys["bravo", "test"]
        assert await f.drain(acme, 15) == {200: 15}
        assert await f.drain(bravo, 6) == {200: 5, 429: 1}
        refused = await f.call(bravo)
        assert refused.headers["retry-after"] == "1"
        assert refused.left == '"partner";r=293;t=1', (
            "a known key's refusals carry its own bucket, which was drawn from first"
        )
        await trio.sleep(1 / 20)
        assert await f.drain(acme, 2) == {200: 1, 429: 1}


async def test_a_partners_refusals_leave_the_process_bucket_alone(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    async with open_app_client(tmp_path, process_rate=BURST + 10) as f:
        assert await f.drain(f.keys["acme", "test"], BURST + 100) == {200: BURST, 429: 100}
        assert await f.drain(f.keys["bravo", "test"], 11) == {200: 10, 429: 1}


async def test_an_operator_raises_a_partners_bucket_at_once(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    async with open_app_client(tmp_path) as f:
        key = f.keys["acme", "test"]
        await f.drain(key, BURST)
        assert (await f.call(key)).status == 429
        await f.core.directory.partner("acme").account().ask(SetRate(PLATFORM, 1000, 500))
        answers = await f.drain(key, 701)
        assert answers == {200: 700, 429: 1}
        await trio.sleep(1 / 500)
        raised = await f.call(key)
        assert raised.status == 200
        assert raised.headers["ratelimit-policy"] == '"partner";q=1000;w=2'


async def test_a_closed_registry_draws_from_the_process_bucket_alone(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    async with open_app_client(tmp_path, process_rate=3) as f:
        f.core.parts.registry.is_closed = lambda now: True
        key = f.keys["acme", "test"]
        answers = [await f.call(given) for given in (key, forged(1), key, key)]
        assert [answer.status for answer in answers] == [500, 500, 500, 429]
        assert {answer.body["reason"] for answer in answers[:3]} == {"registry_unavailable"}
        assert not any("ratelimit" in answer.headers for answer in answers)
        assert (await f.call("pgs_test_nonsense")).status == 401, "the format is looked at first"
        f.core.parts.registry.is_closed = lambda now: False
        await trio.sleep(1)
        assert (await f.call(key)).left == '"partner";r=299;t=1'


async def test_unknown_paths_and_wrong_methods_draw_from_no_bucket(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    async with open_app_client(tmp_path) as f:
        key = f.keys["acme", "test"]
        for _ in range(50):
            assert (await f.call(key, "/partner/nowhere")).status == 404
            assert (await f.call(key, method="DELETE")).status == 405
        assert (await f.call(key)).left == '"partner";r=299;t=1'


async def test_a_bucket_outlives_its_partners_closed_actors(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    async with open_app_client(tmp_path) as f:
        key = f.keys["acme", "test"]
        await f.core.directory.partner("acme").account().ask(SetRate(PLATFORM, 1000, 1))
        await f.drain(key, 1000)
        assert (await f.call(key)).status == 429
        await trio.sleep(
            600
        )  # long after an idle partner is closed, and long before the bucket is full
        assert (await f.call(key)).left == '"partner";r=599;t=401'
