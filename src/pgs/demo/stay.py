"""The part of the demo after the story: the partner's site and the bots, until the demo ends."""

import socket
from functools import partial

import trio

from pgs.clock import SystemClock, SystemRng
from pgs.demo.arena import Arena
from pgs.demo.backend import Backend
from pgs.demo.inbox import Inbox
from pgs.demo.launch import Launcher
from pgs.demo.news import News, follow_feed
from pgs.demo.printing import Teller
from pgs.demo.site import PLAYERS, Site, origins_of, serving
from pgs.serve import RunningService
from pgs_client.trio_client import TrioClient


async def stay(
    service: RunningService,
    test_key: str,
    inbox: Inbox,
    teller: Teller,
    sock: socket.socket,
    bots: int,
    since: int,
) -> None:
    """Serve the site on `sock` and let bots play, until cancelled.

    The site shows the feed from `since` on, in epoch seconds. Bots play in pairs. With an odd
    number, the last one plays against the page's user.
    """
    rng, news, origins = SystemRng(), News(SystemClock()), origins_of(sock)
    async with TrioClient(service.base_url, test_key) as client:
        backend = Backend(client, partial(news.call, service.base_url))
        launcher = Launcher(backend, rng)
        arena = Arena(launcher, teller, rng)
        opponent = partial(arena.oppose, PLAYERS[1], PLAYERS[0]) if bots % 2 else None
        async with (
            serving(Site(launcher, service.base_url, origins, news, opponent=opponent), sock),
            trio.open_nursery() as nursery,
        ):
            nursery.start_soon(follow_feed, backend, news, since)
            for number in range(bots // 2):
                nursery.start_soon(arena.play_on, number)
            _introduce(teller, origins[0], bots)
            async for received in inbox:
                news.nudge(received)
                if bots:
                    teller.nudge_briefly(received)
                else:
                    teller.nudge(received)


def _introduce(teller: Teller, url: str, bots: int) -> None:
    page = (
        "where you play a bot"
        if bots % 2
        else "with both players' frames side by side: play one of them, or both"
    )
    teller.step(
        "The partner's site",
        f"The partner's own page, {page}. Below, it shows the feed, the nudges and every call.",
    )
    teller.say(f"\nOpen {url}")
    if bots > 1:
        teller.say(
            f"{bots // 2 * 2} bots play each other over the Game API. "
            "Their results and the nudges follow, one on each line."
        )
    teller.say("\nCtrl-C ends the demo.")
