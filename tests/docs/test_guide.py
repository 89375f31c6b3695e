"""The pages of the guide: complete, linked, offline, and with examples that run."""

import gzip
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
import trio

from pgs.actors.messages.account.settings import SetPrices
from pgs.actors.messages.catalogue import SetTier
from pgs.domain.errors import ERRORS
from pgs.domain.members import PLATFORM
from pgs.domain.seats import Result
from pgs.http.endpoint_table import ENDPOINTS
from pgs.http.guide.errors import OF_A_MOVE, OF_THE_FRAME, advice, errors_json
from pgs.http.guide.reference import reference_page
from pgs.http.guide.sources import NAMES, SHARED, all_pages, read_published
from pgs.http.pages import make_documents
from tests.conventions.tree import ROOT
from tests.journeys.client import ok
from tests.journeys.partners import Partner, account, seat_body
from tests.journeys.service import Service, in_process
from tests.patience import PATIENCE_S
from tests.tools import find_tool

DOCUMENTS = make_documents("https://pgs.example")
PAGES = {name: DOCUMENTS[f"/docs/{name}"].content.decode() for name, _ in NAMES}
START = read_published("start.md")


class Links(HTMLParser):
    """Collects the addresses and the anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.to: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep what the tag refers to, and its anchor."""
        for name, value in attrs:
            if name in ("href", "src") and value and value != "data:,":
                self.to.append(value)
            elif name == "id" and value:
                self.anchors.add(value)


LINKS = {name: Links(text) for name, text in PAGES.items()}


@pytest.mark.parametrize("name", PAGES)
def test_every_link_of_a_page_leads_to_a_published_place(name: str) -> None:
    for address in LINKS[name].to:
        path, _, anchor = address.partition("#")
        assert not address.startswith(("http", "//")), address
        path = path or f"/docs/{name}"
        assert path in DOCUMENTS, address
        target = "start" if path == "/docs/" else path.removeprefix("/docs/")
        if anchor and target in LINKS and target not in SHARED:
            assert anchor in LINKS[target].anchors, address


def test_the_address_of_every_error_leads_to_a_section_with_advice() -> None:
    assert set(advice()) == set(ERRORS)
    assert set(ERRORS) <= LINKS["errors"].anchors
    told: dict[str, Any] = errors_json("https://pgs.example")
    assert {row["reason"] for row in told["frame"]} == set(OF_THE_FRAME)
    assert {row["reason"] for row in told["socket"]} == set(OF_A_MOVE)


def test_the_guide_names_every_reason_of_the_frame_that_its_page_lists() -> None:
    section = read_published("embed.md").partition("## Errors of the frame")[2]
    rows = [
        line.split("|")[1] for line in section.partition("\n## ")[0].splitlines() if "|" in line
    ]
    listed = {reason for row in rows for reason in re.findall(r"`(\w+)`", row)} - {"reason"}
    assert listed <= set(OF_THE_FRAME) | set(ERRORS)
    assert set(OF_THE_FRAME) <= listed


def test_the_reference_has_a_section_for_every_call() -> None:
    for endpoint in ENDPOINTS:
        assert f">{endpoint.method} {endpoint.path}</h3>" in PAGES["reference"]


def test_every_page_says_whom_it_is_for_and_can_be_read_as_markdown() -> None:
    for page in all_pages():
        assert page.text.split("\n\n")[1].startswith("This page is for "), page.name
        assert DOCUMENTS[f"/docs/{page.name}.md"].content.startswith(b"# ")
        assert f"/docs/{page.name}.md" in DOCUMENTS["/docs/llms.txt"].content.decode()


def test_the_reference_says_of_every_field_and_parameter_what_it_takes() -> None:
    text = reference_page()
    for row in (
        "| `ttlSeconds` | optional | integer, default 3600, from 60, to 3600 |",
        "| `outcome` | required | `ended` or `no_contest` |",
        "| `winnerPlayerId` | optional | string or null |",
        "| `stakeUsdCents` | required | integer |",
        "| `cornerRadius` | optional | integer, default 8, from 0, to 32 |",
        "| `logo` | optional | object with `mime`, `base64` or null |",
        "| `showAmounts` | optional | boolean, default true |",
        "| `gameId` | required | string | A game's id. |",
    ):
        assert row in text, row
    for endpoint in ENDPOINTS:
        section = text.partition(f"\n### {endpoint.method} {endpoint.path}\n")[2]
        section = section.partition("\n### ")[0]
        fields = msgspec.structs.fields(endpoint.request) if endpoint.request else ()
        names = [field.encode_name for field in fields] + list(endpoint.query)
        assert [name for name in names if f"| `{name}` |" not in section] == [], endpoint.path


@pytest.mark.parametrize(
    "words",
    [
        "endReason",
        "heldBack",
        "resume",
        "cancel a seat",
        "timeout",
        "polling",
        "pagination",
        "rakeUsdCents",
        "winnerPlayerId null",
        "draw",
        "429",
    ],
)
def test_the_search_finds_a_word_anywhere_in_a_section(words: str) -> None:
    index = msgspec.json.decode(DOCUMENTS["/docs/search.json"].content)
    searched = [part["words"] + " " + part["title"].lower() for part in index]
    assert any(all(word in part for word in words.lower().split()) for part in searched)


def test_the_search_index_is_small() -> None:
    content = DOCUMENTS["/docs/search.json"].content
    assert len(content) < 200_000
    assert not [part for part in msgspec.json.decode(content) if "mat_6" in part["words"]]
    assert len(gzip.compress(content)) < 50_000


def test_every_result_and_reason_of_an_end_is_listed_with_its_outcome() -> None:
    section = read_published("api.md").partition("## Results and their reasons")[2]
    section = section.partition("\n## ")[0]
    listed = set(re.findall(r"(?m)^\| `(\w+)` \|", section)) - {"endReason"}
    assert listed == {
        "completed",
        "resigned",
        "forfeit_timeout",
        "decided_by_test_key",
        "no_opponent",
        "cancelled",
        "both_absent",
        "account_inactive",
        "emergency_stop",
        "platform_void",
    }
    assert all(f"`{result}`" in section for result in get_args(Result))
    assert '{"outcome": "ended", "winnerPlayerId": null}' in section


def test_the_examples_name_the_address_of_the_service() -> None:
    assert "BASE=https://pgs.example" in PAGES["start"]
    assert "games.example" not in "".join(PAGES.values())


def _example(language: str) -> str:
    """Return the examples of the first page in a language, as one program."""
    return "\n".join(re.findall(rf"(?s)```{language}\n(.*?)```", START))


async def _run(service: Service, key: str, program: list[str], text: str, name: str) -> str:
    done = await _finish(service, key, program, text, name)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


async def _finish(
    service: Service, key: str, program: list[str], text: str, name: str
) -> subprocess.CompletedProcess[bytes]:
    text = text.replace("https://games.example", service.public.base_url)
    script = Path(name)
    await trio.Path(script).write_text(text.replace("pgs_test_…", key), encoding="utf-8")
    with trio.fail_after(PATIENCE_S):
        return await trio.run_process(
            [*program, str(script)],
            capture_stdout=True,
            capture_stderr=True,
            check=False,
            env={"PATH": os.environ["PATH"]},
        )


@asynccontextmanager
async def _ready_service(folder: Path) -> AsyncIterator[tuple[Service, Partner]]:
    async with in_process(folder / "data") as service:
        partner = await service.partner()
        tier = SetTier("test", "test-bronze", "Bronze", 100, 180)
        await service.core.directory.catalogue().ask(tier)
        await account(service.core, partner.partner_id, SetPrices(PLATFORM, "test", {}))
        yield service, partner


def _node() -> str:
    own = ROOT / ".venv" / "bin" / "node"
    return str(own) if own.exists() else find_tool("node")


@pytest.mark.parametrize(
    ("language", "suffix", "paid"),
    [
        (
            "sh",
            ".sh",
            r'"playerId":"p-[^"]+-a",.*"revision":\d.*"result":"won",.*"payoutUsdCents":180',
        ),
        ("python", ".py", r"p-\S+-a ended won payout: 180"),
        ("js", ".mjs", r"p-\S+-a ended won payout: 180"),
    ],
)
async def test_the_first_pages_example_prints_the_money_of_its_match_even_if_another_seat_waits(
    tmp_path: Path, language: str, suffix: str, paid: str
) -> None:
    program = {"sh": ["sh"], "python": [sys.executable], "js": [_node()]}[language]
    async with _ready_service(tmp_path) as (service, partner):
        name = str(tmp_path / f"example{suffix}")
        alone = await _run(service, partner.test, program, _example(language), name)
        assert re.search(paid.replace("-a", "-b"), alone), alone
        body = seat_body("p-colleague", "left", tierId="test-bronze", stakeUsdCents=100)
        left = await service.public.call("POST", "/partner/matches", partner.test, body)
        assert ok(left)["status"] == "waiting"
        printed = await _run(service, partner.test, program, _example(language), name)
        assert re.search(paid, printed), printed
        assert "p-colleague" in printed
        if language == "sh":
            assert '"ready":true' in printed


@pytest.mark.parametrize(("language", "suffix"), [("python", ".py"), ("js", ".mjs")])
async def test_the_first_pages_example_says_why_a_call_is_refused(
    tmp_path: Path, language: str, suffix: str
) -> None:
    program = {"python": [sys.executable], "js": [_node()]}[language]
    async with _ready_service(tmp_path) as (service, _):
        name = str(tmp_path / f"example{suffix}")
        text = _example(language)
        refused = await _finish(service, "pgs_test_wrong", program, text, name)
        assert refused.returncode != 0
        assert b'401 {"error":' in refused.stderr
