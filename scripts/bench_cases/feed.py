"""The results feed: pages of 100 rows, read again and again by one partner's backend."""

import itertools
import secrets
from dataclasses import dataclass
from statistics import median

import msgspec
from bench_cases import servers
from bench_cases.caller import call, get, post
from bench_cases.servers import Server
from bench_cases.setting import Failed, Setting, seats
from rich.progress import Progress

TITLE = "Pages of the feed"
PAGE = 100  # rows
READS = 100
"""Pages read with one partner's key. A full bucket allows these calls and those that fill the feed,
so that no page is refused however fast the server is."""


@dataclass(frozen=True)
class Costs:
    """Microseconds of processor time for a page, round by round, and the bytes of a page."""

    page: list[float]
    page_bytes: int


def partners(rounds: int, calls: int) -> int:
    """Return how many partners the pages of all rounds need, so that no call is refused."""
    return -(-rounds * calls // READS)


def measure(setting: Setting, progress: Progress) -> Costs:
    """Return what a page costs. Raises `Failed`, `NoAnswers` and `NotStarted`."""
    server = servers.product(setting.folder)
    task = progress.add_task("Feed pages", total=setting.rounds)
    try:
        _fill(setting, server)
        requests = [
            get(server.address, f"/partner/results?limit={PAGE}", partner.test_key)
            for partner in setting.partners
        ]
        sizes: set[int] = set()

        def check(_: int, body: bytes) -> None:
            sizes.add(len(body))
            if len(msgspec.json.decode(body)["results"]) != PAGE:
                raise Failed("a page of the feed is not full")

        call(server.address, iter(requests), connections=4, check=check)
        found = []
        for _ in range(setting.rounds):
            many = list(itertools.islice(itertools.cycle(requests), setting.calls))
            begun = server.cpu_s()
            outcome = call(server.address, iter(many), connections=setting.connections)
            found.append((server.cpu_s() - begun) / len(many) * 1e6)
            if outcome.bad():
                raise Failed(f"the feed answered {outcome.statuses}")
            progress.advance(task)
    finally:
        server.stop()
    return Costs(found, int(median(sizes)))


def _fill(setting: Setting, server: Server) -> None:
    """Play matches by decisions, until every partner's feed has a page and more."""
    run, matches = secrets.token_hex(4), PAGE // 2 + 5
    asked = [
        seat
        for partner in setting.partners
        for seat in seats(server.address, [partner], 2 * matches, run)
    ]
    by_match: dict[str, str] = {}

    def keep(status: int, body: bytes) -> None:
        record = msgspec.json.decode(body)
        if status != 200:
            raise Failed(f"a seat was answered with {status}")
        if record["matchId"] is not None:
            by_match[record["matchId"]] = record["playerId"]

    owners = {}
    for position, partner in enumerate(setting.partners):
        before = set(by_match)
        mine = asked[position * 2 * matches : (position + 1) * 2 * matches]
        call(server.address, iter(mine), connections=4, check=keep)
        owners.update(dict.fromkeys(by_match.keys() - before, partner.test_key))
    decided = [
        post(
            server.address,
            f"/partner/test/matches/{match_id}/decide",
            msgspec.json.encode({"outcome": "ended", "winnerPlayerId": player}),
            owners[match_id],
        )
        for match_id, player in by_match.items()
    ]
    outcome = call(server.address, iter(decided), connections=4)
    if outcome.bad():
        raise Failed(f"decisions were answered with {outcome.statuses}")
