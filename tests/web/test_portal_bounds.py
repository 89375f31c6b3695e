"""Bounds of the service that the portal states are those of the service."""

import re

from pgs.domain.days import RANGE_MAX_DAYS
from tests.conventions.tree import ROOT


def test_the_portal_offers_ranges_as_long_as_the_service_accepts() -> None:
    days = (ROOT / "web/src/portal/parts/days.ts").read_text(encoding="utf-8")
    assert re.findall(r"DAYS_MAX = (\d+);", days) == [str(RANGE_MAX_DAYS)]
