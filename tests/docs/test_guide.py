"""The pages of the guide: complete, linked, offline, and with examples that run."""

import os
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
import trio

from pgs.actors.messages.account.settings import SetPrices
from pgs.actors.messages.catalogue import SetTier
from pgs.domain.errors import ERRORS
from pgs.domain.members import PLATFORM
from pgs.http.guide.errors import OF_A_MOVE, OF_THE_FRAME, advice, errors_json
from pgs.http.guide.sources import NAMES, SHARED, all_pages, read_published
from pgs.http.pages import make_documents
from pgs.http.surface import ENDPOINTS
from tests.conventions.tree import ROOT
from tests.journeys.partners import account
from tests.journeys.service import Service, in_process
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
    told = errors_json("https://pgs.example")
    assert {row["reason"] for row in told["frame"]} == set(OF_THE_FRAME)  # type: ignore[attr-defined]
    assert {row["reason"] for row in told["socket"]} == set(OF_A_MOVE)  # type: ignore[attr-defined]


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


def test_the_examples_name_the_address_of_the_service() -> None:
    assert "BASE=https://pgs.example" in PAGES["start"]
    assert "games.example" not in "".join(PAGES.values())


def _example(language: str) -> str:
    """Return the examples of the first page in a language, as one program."""
    return "\n".join(re.findall(rf"(?s)```{language}\n(.*?)```", START))


async def _run(service: Service, key: str, program: list[str], text: str, name: str) -> str:
    text = text.replace("https://games.example", service.public.base_url)
    script = Path(name)
    await trio.Path(script).write_text(text.replace("pgs_test_…", key), encoding="utf-8")
    with trio.fail_after(60):
        done = await trio.run_process(
            [*program, str(script)],
            capture_stdout=True,
            capture_stderr=True,
            check=False,
            env={"PATH": os.environ["PATH"]},
        )
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


async def test_the_examples_of_the_first_page_play_a_match(tmp_path: Path) -> None:
    async with in_process(tmp_path / "data") as service:
        partner = await service.partner()
        tier = SetTier("test", "test-bronze", "Bronze", 100, 180)
        await service.core.directory.catalogue().ask(tier)
        await account(service.core, partner.partner_id, SetPrices(PLATFORM, "test", {}))

        async def run(program: list[str], language: str, suffix: str) -> str:
            name = str(tmp_path / f"example{suffix}")
            return await _run(service, partner.test, program, _example(language), name)

        shell = await run(["sh"], "sh", ".sh")
        assert '"ready":true' in shell
        assert '"outcome":"ended"' in shell
        assert "p-300 ended won" in await run([sys.executable], "python", ".py")
        own = ROOT / ".venv" / "bin" / "node"
        node = str(own) if await trio.Path(own).exists() else find_tool("node")
        assert "p-500 ended won" in await run([node], "js", ".mjs")
