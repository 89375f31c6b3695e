"""The demo partner's site with a service in this process, and an HTTP client for it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import trio

from pgs.clock import SystemClock, SystemRng
from pgs.demo.backend import Backend
from pgs.demo.folder import DemoFile
from pgs.demo.inbox import Inbox
from pgs.demo.launch import Launcher
from pgs.demo.news import News, follow_feed
from pgs.demo.pool import ConnectionPool
from pgs.demo.site import Opponent, Site, origins_of, serving
from pgs.http.transport.server import bind
from pgs.serve import RunningService
from pgs_client.trio_client import TrioClient
from tests.demo.service import demo_service


class Visit(msgspec.Struct, frozen=True):
    """A running site. `answers` holds headers and bodies of all answers that `call` got."""

    url: str
    service: RunningService
    demo: DemoFile
    inbox: Inbox
    news: News
    launcher: Launcher
    backend: Backend
    pool: ConnectionPool
    answers: list[bytes]

    async def call(
        self, path: str, body: object = None, **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        """Return status, headers by lower-case name, and body."""
        answer = await self.pool.request(
            "GET" if body is None else "POST",
            self.url + path,
            headers=list(
                ({"Origin": self.url, "Content-Type": "application/json"} | headers).items()
            ),
            content=None
            if body is None
            else body
            if isinstance(body, bytes)
            else msgspec.json.encode(body),
            extensions={"timeout": {"read": 40.0}},
        )
        self.answers.extend(
            [*(part for header in answer.headers for part in header), answer.content]
        )
        return (
            answer.status,
            {name.decode().lower(): value.decode() for name, value in answer.headers},
            answer.content,
        )

    async def rows_of(self, match_id: str, outcome: str) -> dict[str, dict[str, Any]]:
        """Wait until the page has both rows of a match with this outcome; return them by player."""
        found: dict[str, dict[str, Any]] = {}
        after = 0
        while len(found) < 2:
            _, _, content = await self.call(f"/play/news?after={after}")
            told = msgspec.json.decode(content)
            after = told["last"]
            rows = [entry["row"] for entry in told["entries"] if "row" in entry]
            found |= {
                row["playerId"]: row
                for row in rows
                if row["matchId"] == match_id and row["outcome"] == outcome
            }
        return found


@asynccontextmanager
async def visit(folder: Path, opponent: Opponent | None = None) -> AsyncIterator[Visit]:
    """Yield a running site, with or without an opponent that plays the second side."""
    with closing(bind("127.0.0.1:0")) as sock:
        async with (
            demo_service(folder) as (service, demo, inbox),
            TrioClient(service.base_url, demo.test_key) as client,
            ConnectionPool() as pool,
        ):
            news, origins = News(SystemClock()), origins_of(sock)
            backend = Backend(client, partial(news.call, service.base_url))
            launcher = Launcher(backend, SystemRng())
            site = Site(launcher, service.base_url, origins, news, opponent=opponent)
            async with serving(site, sock), trio.open_nursery() as nursery:
                nursery.start_soon(follow_feed, backend, news, 0)
                yield Visit(origins[0], service, demo, inbox, news, launcher, backend, pool, [])
                nursery.cancel_scope.cancel()
