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
        """Count one call. A longer one than `LONGEST_US` counts as one of that length."""
        self.histogram(kind).record_value(min(LONGEST_US, max(1, int(seconds * 1e6))))

    def histogram(self, kind: str) -> HdrHistogram:
        """Return the histogram of a kind; that of a new kind is empty."""
        if kind not in self._kinds:
            self._kinds[kind] = HdrHistogram(1, LONGEST_US, DIGITS)
        return self._kinds[kind]

    def include(self, kind: str, other: "Times") -> None:
        """Count all calls of a kind that `other` has counted."""
        self.histogram(kind).add(other.histogram(kind))

    def report(self) -> dict[str, dict[str, float]]:
        """Return count and percentiles in milliseconds for each kind."""
        return {
            kind: {
                "calls": float(found.get_total_count()),
                **{f"p{share:g}": found.get_value_at_percentile(share) / 1000 for share in SHARES},
            }
            for kind, found in sorted(self._kinds.items())
            if found.get_total_count()
        }

    def picture(self, title: str) -> str:
        """Return a bar chart of p50 and p99 of each kind as SVG. There must be a call."""
        values = {
            f"{kind}, p{share:g}": found.get_value_at_percentile(share)
            for kind, found in sorted(self._kinds.items())
            if found.get_total_count()
            for share in (50.0, 99.0)
        }
        return bar_chart(title, "p50 and p99 of each kind, in microseconds", values, "µs")
