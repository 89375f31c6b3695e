"""A page of `settlement.list` whose items change while several nodes read it."""

from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from pgs.domain.shards import Node
from pgs.operator.commands import settlement
from pgs.operator.messages import Answer, Done
from pgs.operator.open_items import Found
from pgs.operator.settlement_records import OpenItem, OpenPage

HERE = OpenItem(
    id="seat_1",
    kind="charge",
    partner_id="acme",
    environment="test",
    seat_id="seat_1",
    amount_usd_cents=100,
    since=1,
    settlement="remote",
    player_id="ann",
)
THERE = msgspec.structs.replace(HERE, tries=3)


async def page_read(
    monkeypatch: pytest.MonkeyPatch, here: list[list[OpenItem]], there: list[list[OpenItem]]
) -> OpenPage:
    """Return the page of a node that owns nothing. Each read of it, and of the owner, is listed."""

    async def no_rows(*_: object) -> Found:
        return Found()

    async def answers(*_: object) -> dict[str, Answer]:
        page = OpenPage(there.pop(0) if len(there) > 1 else there[0])
        return {"n2": Done(msgspec.Raw(msgspec.json.encode(page)))}

    monkeypatch.setattr(settlement, "page_of", no_rows)
    monkeypatch.setattr(
        settlement, "items_of", lambda *_: here.pop(0) if len(here) > 1 else here[0]
    )
    monkeypatch.setattr(settlement, "answers_of_others", answers)
    owner = Node("n2", "n2:8000")
    core: Any = SimpleNamespace(
        directory=SimpleNamespace(owns=lambda _: False),
        shards=SimpleNamespace(owner_of=lambda _: owner),
        nodes=object(),
    )
    page = await settlement.list_open(core, settlement.ItemsAfter())
    assert isinstance(page, OpenPage)
    return page


async def test_an_item_that_was_decided_between_two_reads_is_not_listed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = await page_read(monkeypatch, [[HERE], []], [[]])
    assert (page.items, page.unreached) == ([], {})


async def test_an_item_that_its_owner_read_too_early_is_read_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = await page_read(monkeypatch, [[HERE]], [[], [THERE]])
    assert (page.items, page.unreached) == ([THERE], {})


async def test_an_item_that_its_owner_never_knows_is_listed_and_the_page_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = await page_read(monkeypatch, [[HERE]], [[]])
    assert [item.tries for item in page.items] == [None]
    assert page.unreached == {"n2": settlement.CHANGED}
