"""The function of docs/billing.md computes the service's own digests."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.conventions.tree import ROOT
from tests.journeys.billed import open_billed

PAGE = (ROOT / "docs" / "billing.md").read_text(encoding="utf-8")


def digest_of() -> Callable[[list[Any], str], dict[str, Any]]:
    """Return the function of the page."""
    code = PAGE.partition("```python\n")[2].partition("```")[0]
    names: dict[str, Any] = {}
    exec(compile(code, "billing.md", "exec"), names)  # noqa: S102  it is our own page
    function: Callable[[list[Any], str], dict[str, Any]] = names["digest_of"]
    return function


async def test_the_function_on_the_page_equals_the_digest_of_the_service(tmp_path: Path) -> None:
    async with open_billed(tmp_path) as billed:
        rows, found = await billed.rows_and_digest()
    function = digest_of()
    assert found["days"] == [function(rows, day["day"]) for day in found["days"]]
    assert [day["rows"] for day in found["days"]] == [0, 6, 2]
    missing = function(rows[1:], "20280228")
    assert missing != found["days"][1]
