"""Counts answered calls and measures how long they took, in numbers that a scrape reads.

Every call is counted here. prometheus_client would take a lock for each of the three numbers that a
call changes, and that costs ten times as much as changing a list.
"""

from bisect import bisect_left
from collections.abc import Iterable
from itertools import accumulate
from typing import Final

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

_MILLISECONDS: Final = (0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000, 30000)

SECONDS: Final = tuple(bound / 1000 for bound in _MILLISECONDS)
"""Upper bounds of the histograms' buckets, in seconds. A call that takes exactly as long as a bound
counts in that bucket. Minting a token takes less than a millisecond, and a long poll up to 25 s."""

CLASSES: Final = ("2xx", "3xx", "4xx", "5xx")

_BOUNDS: Final = (*map(str, SECONDS), "+Inf")


class AnswerMetrics(Collector):
    """The answered calls of endpoints, by endpoint and status.

    Only the thread of the event loop counts and collects.
    """

    def __init__(self) -> None:
        # By endpoint and status: seconds in total, then the calls of each bucket.
        self._calls: dict[tuple[str, int], list[float]] = {}

    def count(self, endpoint: str, status: int, seconds: float) -> None:
        """Count one answered call of an endpoint, named by its path as declared."""
        call = self._calls.get((endpoint, status))
        if call is None:
            call = self._calls[endpoint, status] = [0.0] + [0] * len(_BOUNDS)
        call[0] += seconds
        call[1 + bisect_left(SECONDS, seconds)] += 1

    def describe(self) -> Iterable[Metric]:
        """Return nothing, so the library does not check the names for duplicates."""
        return ()

    def collect(self) -> Iterable[Metric]:
        """Return the calls by class of status, and the times by endpoint and status."""
        times = HistogramMetricFamily(
            "pgs_request_seconds",
            "Time to answer an endpoint's call",
            labels=["endpoint", "status"],
        )
        classes = dict.fromkeys(CLASSES, 0.0)
        for (endpoint, status), (seconds, *calls) in self._calls.items():
            buckets = list(zip(_BOUNDS, accumulate(calls), strict=True))
            times.add_metric([endpoint, str(status)], buckets, seconds)
            classes[f"{status // 100}xx"] += buckets[-1][1]
        answers = CounterMetricFamily(
            "pgs_answers", "Answered calls of endpoints, by class of status", labels=["class"]
        )
        for name, number in classes.items():
            answers.add_metric([name], number)
        yield answers
        yield times
