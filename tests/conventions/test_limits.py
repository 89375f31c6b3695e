"""Every number in the code tells its unit and its reason, and docs/limits.md lists the limits."""

import sys

from tests.conventions.tree import ROOT, SOURCE

sys.path.insert(0, str(ROOT / "scripts"))

from limits.collect import collect
from limits.page import page
from write_limits import DOCUMENT, faults_of

BOUNDS = collect(SOURCE)


def test_every_number_in_the_code_has_a_sentence_that_tells_its_unit_and_its_reason() -> None:
    faults = faults_of(BOUNDS)
    assert faults == [], "write a comment or docstring: Rows on a page. More would take too long."


def test_the_page_of_limits_is_what_the_code_says() -> None:
    fresh = DOCUMENT.read_text(encoding="utf-8") == page(BOUNDS)
    assert fresh, "docs/limits.md is stale: run scripts/write_limits.py"
