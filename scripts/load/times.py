"""Times of calls by kind: histograms, percentiles for the JSON report, and a picture of them."""

from drawings.bars import bar_chart
from hdrh.histogram import HdrHistogram

LONGEST_US = 60_000_000  # longest time that a histogram can hold
DIGITS = 3  # significant digits of its values
SHARES = (50.0, 90.0, 99.0, 99.9, 100.0)  # percentiles of the report


class Times:
    """A histogram for each kind of call, in microseconds."""

    def __init__(self) -> None:
        self._kinds: dict[str, HdrHistogram] = {}

    def add(self, kind: str, seconds: float) -> None:
        """Count one call."""
        if kind not in self._kinds:
            self._kinds[kind] = HdrHistogram(1, LONGEST_US, DIGITS)
        self._kinds[kind].record_value(max(1, int(seconds * 1e6)))

    def count(self, kind: str) -> int:
        """Return how many calls of a kind were counted."""
        found = self._kinds.get(kind)
        return int(found.get_total_count()) if found else 0

    def report(self) -> dict[str, dict[str, float]]:
        """Return count and percentiles in milliseconds for each kind."""
        return {
            kind: {
                "calls": float(found.get_total_count()),
                **{f"p{share:g}": found.get_value_at_percentile(share) / 1000 for share in SHARES},
            }
            for kind, found in sorted(self._kinds.items())
        }

    def picture(self, title: str) -> str:
        """Return a bar chart of p50 and p99 of each kind as SVG."""
        values = {
            f"{kind}, p{share:g}": found.get_value_at_percentile(share)
            for kind, found in sorted(self._kinds.items())
            for share in (50.0, 99.0)
        }
        return bar_chart(title, "p50 and p99 of each kind of call, in microseconds", values, "µs")
