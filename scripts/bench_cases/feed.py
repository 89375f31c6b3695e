"""The results feed: pages of 100 rows, read for the first time and read again and again."""

import itertools
import secrets
from dataclasses import dataclass, field

import msgspec
from bench_cases import servers
from bench_cases.caller import call, get, post
from bench_cases.cost import cost_us
from bench_cases.servers import Server
from bench_cases.setting import Failed, Setting, seats
from rich.progress import Progress

TITLE = "Pages of the feed"
PAGE = 100  # rows
PARTNERS = 400  # each has one page
# One partner in so many has a page that is read again and again. All their rows stay in memory, and
# a full bucket allows the calls for one page.
AGAIN_SHARE = 10
WARM_UPS = (
    5  # times that these pages are read before a round: a page is kept once it was read twice
)


@dataclass
class Costs:
    """Microseconds of processor time for a page, round by round, and the bytes of a page.

    `first`: pages that nobody has read since the start. `again`: pages that were read before.
    `pages`: how many of each kind are read in a round.
    """

    first: list[float] = field(default_factory=list)
    again: list[float] = field(default_factory=list)
    pages: tuple[int, int] = (0, 0)
    page_bytes: int = 0


def measure(setting: Setting, progress: Progress) -> Costs:
    """Return what a page costs. Raises `Failed`, `NoAnswers` and `NotStarted`.

    The service starts anew in each round, because it remembers what was read.
    """
    task = progress.add_task("Feed pages", total=setting.rounds + 1)
    server = servers.product(setting.folder)
    try:
        _fill(setting, server)
    finally:
        server.stop()
    progress.advance(task)
    costs = Costs()
    for _ in range(setting.rounds):
        server = servers.product(setting.folder)
        try:
            _measure_round(setting, server, costs)
        finally:
            server.stop()
        progress.advance(task)
    return costs


def _measure_round(setting: Setting, server: Server, costs: Costs) -> None:
    requests = [
        get(server.address, f"/partner/results?limit={PAGE}", partner.test_key)
        for partner in setting.partners
    ]
    often = len(requests) // AGAIN_SHARE
    again, once = requests[:often], requests[often:]
    sizes: set[int] = set()

    def check(_: int, body: bytes) -> None:
        sizes.add(len(body))
        if len(msgspec.json.decode(body)["results"]) != PAGE:
            raise Failed("a page of the feed is not full")

    for _ in range(WARM_UPS):
        call(server.address, iter(again), connections=setting.connections, check=check)
    many = list(itertools.islice(itertools.cycle(again), setting.calls))
    costs.first.append(cost_us(setting, server, once))
    costs.again.append(cost_us(setting, server, many))
    costs.pages = len(once), len(many)
    costs.page_bytes = sorted(sizes)[len(sizes) // 2]


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
