"""Every constant number in the code has a sentence, and docs/limits.md lists the limits."""

import sys

from tests.conventions.tree import ROOT, SOURCE

sys.path.insert(0, str(ROOT / "scripts"))

from limits.collect import collect
from limits.page import page
from write_limits import DOCUMENT, faults_of

BOUNDS = collect(SOURCE)


def test_every_constant_number_has_a_sentence_with_its_unit_and_reason() -> None:
    faults = faults_of(BOUNDS)
    assert faults == [], "write a docstring such as: Rows on a page. More would take too long."


def test_the_page_of_limits_is_up_to_date() -> None:
    fresh = DOCUMENT.read_text(encoding="utf-8") == page(BOUNDS)
    assert fresh, "docs/limits.md is stale: run scripts/write_limits.py"
