"""Every constant number in the code has a sentence, and docs/limits.md lists the limits."""

import sys

import pytest

from tests.conventions.tree import ROOT, SOURCE

sys.path.insert(0, str(ROOT / "scripts"))

from limits.collect import Bound, collect
from limits.page import page
from write_limits import DOCUMENT, faults_of


# Not at the top of the module: every process that takes part in a run imports this file.
@pytest.fixture(scope="module")
def bounds() -> list[Bound]:
    """The numbers of the source code."""
    return collect(SOURCE)


def test_every_constant_number_has_a_sentence_with_its_unit_and_reason(bounds: list[Bound]) -> None:
    faults = faults_of(bounds)
    assert faults == [], "write a docstring such as: Rows on a page. More would take too long."


def test_the_page_of_limits_is_up_to_date(bounds: list[Bound]) -> None:
    fresh = DOCUMENT.read_text(encoding="utf-8") == page(bounds)
    assert fresh, "docs/limits.md is stale: run scripts/write_limits.py"
