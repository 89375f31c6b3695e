"""What the service counts and measures, for Prometheus."""

from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import version
from itertools import product
from platform import python_version
from typing import Final, get_args

import structlog
import trio
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector

from pgs.actors.core import Core
from pgs.actors.maintenance.chores import CHORES
from pgs.actors.maintenance.runner import RunOutcome
from pgs.answer_metrics import CLASSES, SECONDS, AnswerMetrics
from pgs.domain.shards import SHARDS
from pgs.event_names import EVENTS
from pgs.storage.nodes import Tally

_SETTLEMENT_CALLS: Final = tuple(
    product(("charge", "payout"), ("confirmed", "pending", "declined", "unanswered"))
)

LABELS: Final[Mapping[str, Iterable[tuple[str, ...]]]] = {
    "pgs_events": [(name,) for name in sorted(EVENTS)],
    "pgs_answers": [(name,) for name in CLASSES],
    "pgs_chore_runs": list(product((chore.name for chore in CHORES), get_args(RunOutcome))),
}
"""All label values of every counter that has labels. Each series starts at zero, because an alert
on an increase does not see the event with which a series begins."""

log = structlog.get_logger("pgs.metrics")


class Metrics:
    """One process's metrics.

    Every label comes from a fixed set (event names, endpoint paths, statuses, chores), and never
    from a client.
    """

    def __init__(self) -> None:
        # The library would add a series for the creation time of each counter. No alert needs it.
        disable_created_metrics()  # type: ignore[no-untyped-call]  # the library has no types here
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(_Build())
        ProcessCollector(registry=self._registry)
        self._events = Counter(
            "pgs_events", "What happened, by name", ["event"], registry=self._registry
        )
        answers = AnswerMetrics()
        self._registry.register(answers)
        self.on_request = answers.count
        self._settlement_calls = Histogram(
            "pgs_settlement_seconds",
            "Time of a call to the settlement server",
            ["kind", "outcome"],
            buckets=SECONDS,
            registry=self._registry,
        )
        self._event_counters = {name: self._events.labels(name).inc for name in EVENTS}
        for kind, outcome in _SETTLEMENT_CALLS:
            self._settlement_calls.labels(kind, outcome)

    def on_event(self, name: str) -> None:
        """Count one event. Its name should be one of `EVENTS`; any other is also logged, once."""
        count = self._event_counters.get(name)
        if count is None:
            log.warning("event_undeclared", name=name)
            count = self._event_counters[name] = self._events.labels(name).inc
        count()

    def on_settlement_call(self, kind: str, outcome: str, seconds: float) -> None:
        """Record one call to the settlement server.

        `kind`: `charge` or `payout`. `outcome`: the answer, if the interface defines it, else
        `unanswered`.
        """
        self._settlement_calls.labels(kind, outcome).observe(seconds)

    def watch(
        self, core: Core, open_sockets: Callable[[], int], lost_lines: Callable[[], int]
    ) -> None:
        """Measure the core, the open game sockets and the lost log lines at every scrape."""
        self._registry.register(_CoreGauges(core, open_sockets, lost_lines))

    def scrape(self) -> bytes:
        """Return everything in Prometheus' text format. Call it inside the trio run."""
        return generate_latest(self._registry)


class _Build(Collector):
    """A series whose labels are the versions of the service and of Python."""

    def collect(self) -> Iterable[Metric]:
        """Return one series that is always 1."""
        family = GaugeMetricFamily(
            "pgs_build_info", "1, with the version in its labels", labels=["version", "python"]
        )
        family.add_metric([version("pgs"), python_version()], 1)
        yield family


class _CoreGauges(Collector):
    """Reads the core at each scrape, so that nothing has to be kept up to date in between."""

    def __init__(
        self, core: Core, open_sockets: Callable[[], int], lost_lines: Callable[[], int]
    ) -> None:
        self._core = core
        self._open_sockets = open_sockets
        self._lost_lines = lost_lines

    def describe(self) -> Iterable[Metric]:
        """Return nothing, so the library does not check the names for duplicates."""
        return ()

    def collect(self) -> Iterable[Metric]:
        """Return the gauges as they now are."""
        parts, now = self._core.parts, trio.current_time()
        yield GaugeMetricFamily(
            "pgs_registry_age_seconds",
            "Age of the registry's snapshot",
            value=min(parts.registry.age_s(now), 1e9),
        )
        yield GaugeMetricFamily("pgs_partners", "Accounts", value=len(parts.registry.accounts()))
        yield GaugeMetricFamily(
            "pgs_open_partners", "Partners whose actors are open", value=len(self._core.directory)
        )
        yield GaugeMetricFamily(
            "pgs_live_actors", "Actors with a running task", value=len(parts.system.cells)
        )
        yield GaugeMetricFamily("pgs_open_sockets", "Open game sockets", value=self._open_sockets())
        yield GaugeMetricFamily(
            "pgs_players_here", "Players with an open game socket", value=len(parts.presence)
        )
        yield GaugeMetricFamily(
            "pgs_open_tables",
            "Matches whose table is open",
            value=self._core.directory.count_tables(),
        )
        yield from self._shards(now)
        yield from self._clock()
        yield from self._data()
        yield from self._chores(now)
        yield from self._settlement(now)
        yield CounterMetricFamily(
            "pgs_log_lines_lost",
            "Lines of the log that could not be written",
            value=self._lost_lines(),
        )
        yield GaugeMetricFamily(
            "pgs_writer_stalled",
            "1 while a transaction waits too long for its commit, or when the writer has ended",
            value=int(parts.database.writer.stalled()),
        )

    def _shards(self, now: float) -> Iterable[Metric]:
        kept = self._core.shards
        tally = Tally() if kept is None else kept.tally
        yield GaugeMetricFamily(
            "pgs_node_shards",
            "Shards for whose partners this process answers",
            value=SHARDS if kept is None else len(kept.owned),
        )
        yield GaugeMetricFamily(
            "pgs_node_beat_age_seconds",
            "Age of this node's newest beat; 0 if the service has no nodes",
            value=0.0 if kept is None else min(kept.beat_age(now), 1e9),
        )
        yield CounterMetricFamily(
            "pgs_node_sessions",
            "Sessions with the database that this node has opened",
            value=tally.sessions,
        )
        yield CounterMetricFamily(
            "pgs_node_shards_taken_over",
            "Shards taken from a node that had not handed them over",
            value=tally.taken_over,
        )
        yield CounterMetricFamily(
            "pgs_node_others_ended",
            "Silent sessions of other nodes that this node has ended",
            value=tally.others_ended,
        )

    def _clock(self) -> Iterable[Metric]:
        watch = self._core.parts.clock_watch
        yield GaugeMetricFamily(
            "pgs_clock_behind_seconds",
            "Seconds by which the machine's clock has gone back",
            value=watch.behind_s,
        )
        yield GaugeMetricFamily(
            "pgs_rows_ahead_seconds",
            "Seconds by which the newest row is ahead of the machine's clock",
            value=watch.rows_ahead_s,
        )

    def _data(self) -> Iterable[Metric]:
        watch = self._core.parts.database_watch
        yield GaugeMetricFamily(
            "pgs_database_files_lost",
            "1 while a file of the database has vanished or was replaced",
            value=int(watch.lost is not None),
        )
        yield GaugeMetricFamily(
            "pgs_database_faults",
            "Faults that the last check of the database has found",
            value=len(watch.last_check.faults) if watch.last_check else 0,
        )

    def _settlement(self, now: float) -> Iterable[Metric]:
        parts = self._core.parts
        kinds = {"charge": parts.open_money.charges, "payout": parts.open_money.payouts}
        gauges = {
            "count": GaugeMetricFamily(
                "pgs_settlement_open", "Charges and payouts that are not decided", labels=["kind"]
            ),
            "overdue": GaugeMetricFamily(
                "pgs_settlement_overdue", "Charges and payouts open for over a day", labels=["kind"]
            ),
            "age": GaugeMetricFamily(
                "pgs_settlement_oldest_seconds",
                "Age of the oldest open charge or payout",
                labels=["kind"],
            ),
        }
        today = parts.clock.now()
        for kind, counted in kinds.items():
            since = today if counted.oldest_since is None else counted.oldest_since
            gauges["count"].add_metric([kind], counted.count)
            gauges["overdue"].add_metric([kind], counted.overdue)
            gauges["age"].add_metric([kind], max(0, today - since))
        yield from gauges.values()
        states = {"closed": 0, "half-open": 1, "open": 2}
        yield GaugeMetricFamily(
            "pgs_settlement_breaker",
            "0: calls are made, 1: one call tries the server, 2: no calls",
            value=states[parts.settlements.breaker.state(now)],
        )

    def _chores(self, now: float) -> Iterable[Metric]:
        runs = CounterMetricFamily(
            "pgs_chore_runs",
            "Runs of background work, by how they ended",
            labels=["chore", "outcome"],
        )
        for (chore, outcome), count in self._core.chores.runs.items():
            runs.add_metric([chore, outcome], count)
        yield runs
        ages = GaugeMetricFamily(
            "pgs_chore_success_age_seconds",
            "Seconds since background work last succeeded",
            labels=["chore"],
        )
        for chore, age in self._core.chores.success_ages(now).items():
            ages.add_metric([chore], age)
        yield ages
