"""What a scrape shows from the start."""

import re
from pathlib import Path

import pytest
import structlog
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families
from trio.testing import MockClock

from pgs.event_names import EVENTS
from pgs.metrics import LABELS, Metrics
from tests.actors.ready_core import ready_core

OPERATIONS = Path(__file__).parents[1] / "docs" / "operations.md"


async def _first_scrape(folder: Path) -> dict[str, Metric]:
    """Return what a service shows before anything has happened, by the metric's name."""
    async with ready_core(folder) as s:
        metrics = Metrics()
        metrics.watch(s.core, lambda: 0, lambda: 0)
        text = metrics.scrape().decode()
    return {family.name: family for family in text_string_to_metric_families(text)}


async def test_every_counter_shows_each_of_its_series_from_the_start(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    counters = {
        name: {tuple(sample.labels.values()): sample.value for sample in family.samples}
        for name, family in (await _first_scrape(tmp_path)).items()
        if family.type == "counter"
    }
    labelled = {name for name, series in counters.items() if tuple(series) != ((),)}
    assert labelled == set(LABELS), (
        "each counter with labels declares all their values in LABELS (src/pgs/metrics.py), and "
        "shows each of them at zero before the first event"
    )
    for name, values in LABELS.items():
        assert set(counters[name]) == set(values), f"{name} lacks declared series, or shows others"
    assert set(counters["pgs_events"].values()) == {0.0}
    assert set(counters["pgs_answers"].values()) == {0.0}


async def test_a_scrape_names_build_and_process_and_no_times_of_creation(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    shown = await _first_scrape(tmp_path)
    assert [name for name in shown if name.endswith("_created")] == []
    [build] = shown["pgs_build_info"].samples
    assert build.value == 1
    assert re.fullmatch(r"\d+\.\d+\.\d+", build.labels["version"])
    assert {"process_resident_memory_bytes", "process_open_fds", "process_cpu_seconds"} <= set(
        shown
    )


async def test_the_operations_page_lists_every_metric_and_no_other(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    shown = {
        f"{name}_total" if family.type == "counter" else name
        for name, family in (await _first_scrape(tmp_path)).items()
    }
    page = OPERATIONS.read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| `(pgs_\w+)` \|", page, re.MULTILINE))
    assert listed == {name for name in shown if not name.startswith("process_")}


async def test_an_answer_counts_in_its_class(tmp_path: Path, autojump_clock: MockClock) -> None:
    async with ready_core(tmp_path):
        metrics = Metrics()
        for status in (200, 429, 503, 500):
            metrics.on_request("/partner/me", status, 0.001)
        text = metrics.scrape().decode()
    assert re.findall(r'pgs_answers_total\{class="(...)"\} (\S+)', text) == [
        ("2xx", "1.0"),
        ("3xx", "0.0"),
        ("4xx", "1.0"),
        ("5xx", "2.0"),
    ]


def test_the_times_of_answers_are_counted_up_to_each_bound() -> None:
    metrics = Metrics()
    for seconds in (0.0004, 0.0005, 0.00051, 31.0):
        metrics.on_request("/partner/me", 200, seconds)
    metrics.on_request("/partner/me", 404, 0.002)
    families = text_string_to_metric_families(metrics.scrape().decode())
    [times] = [family for family in families if family.name == "pgs_request_seconds"]
    assert times.type == "histogram"
    assert {sample.labels["endpoint"] for sample in times.samples} == {"/partner/me"}
    ok = {
        (sample.name.removeprefix(times.name), sample.labels.get("le")): sample.value
        for sample in times.samples
        if sample.labels["status"] == "200"
    }
    assert ok["_bucket", "0.0005"] == 2
    assert ok["_bucket", "0.001"] == ok["_bucket", "30.0"] == 3
    assert ok["_bucket", "+Inf"] == ok["_count", None] == 4
    assert ok["_sum", None] == pytest.approx(31.00141)
    assert len(ok) == 18


def test_an_event_that_is_not_declared_is_counted_and_logged_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert "surprise" not in EVENTS
    with structlog.testing.capture_logs() as lines:
        metrics = Metrics()
        metrics.on_event("surprise")
        metrics.on_event("surprise")
    assert 'pgs_events_total{event="surprise"} 2.0' in metrics.scrape().decode()
    assert [line["event"] for line in lines] == ["event_undeclared"]
