"""What axe-core finds wrong with the accessibility of a page."""

from functools import cache
from typing import Any, Literal

import pytest
from playwright.sync_api import Frame, Page

from tests.conventions.tree import ROOT

_SOURCE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"

_RUN = """async (within) => {
  // A transition between two schemes shows colours that are in neither.
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  await Promise.all(document.getAnimations().map(({ finished }) => finished.catch(() => {})));
  const found = await axe.run(within, { iframes: false, resultTypes: ["violations"] });
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.html.slice(0, 120)}: ${node.failureSummary}`));
}"""


@cache
def _source() -> str:
    if not _SOURCE.exists():
        pytest.fail(f"{_SOURCE} is missing: run scripts/web check")
    return _SOURCE.read_text()


def axe_faults(document: Page | Frame, within: str = "html") -> list[str]:
    """Return the faults of an element in a document, without those of the frames in it."""
    # Through the debugger, so that no content security policy stands in the way.
    document.evaluate(f"() => {{ {_source()}\n }}")
    faults: list[Any] = document.evaluate(_RUN, within)
    return [str(fault) for fault in faults]


def axe_faults_in_both_schemes(page: Page, within: str = "html") -> list[str]:
    """Return the faults of an element in its light and in its dark colours."""
    schemes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    found = []
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        found += [f"{scheme}: {fault}" for fault in axe_faults(page, within)]
    return found
