"""The alerts and the dashboard, checked by promtool and against what the service shows."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from trio.testing import MockClock

from pgs.event_names import EVENTS
from pgs.http.endpoint_table import ENDPOINTS
from pgs.metrics import LABELS, Metrics
from tests.actors.ready_core import ready_core
from tests.tools import find_tool

ROOT = Path(__file__).parents[2]
PROMETHEUS = ROOT / "deploy" / "prometheus"
ALERTS, CASES = PROMETHEUS / "alerts.yml", PROMETHEUS / "alerts.test.yml"
DASHBOARD = ROOT / "deploy" / "grafana" / "dashboard.json"
RUNBOOKS = ROOT / "docs" / "runbooks.md"

_LINUX_ONLY = {
    "process_cpu_seconds_total",
    "process_max_fds",
    "process_open_fds",
    "process_resident_memory_bytes",
    "process_start_time_seconds",
}


def promtool(*arguments: str) -> None:
    """Run promtool. AssertionError with its output if it finds a fault."""
    done = subprocess.run([find_tool("promtool"), *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def _alerts() -> dict[str, str]:
    """Return the text of each rule by the alert's name."""
    found = re.split(r"^      - alert: (\w+)\n", ALERTS.read_text(encoding="utf-8"), flags=re.M)[1:]
    return dict(zip(found[::2], found[1::2], strict=True))


def _targets() -> list[str]:
    """Return the queries of the dashboard's panels."""
    dashboard = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    return [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", ())]


def test_promtool_takes_the_configuration_and_its_rules() -> None:
    promtool("check", "config", str(PROMETHEUS / "prometheus.yml"))


def test_each_alert_fires_in_its_case_and_stays_quiet_on_a_healthy_service() -> None:
    promtool("test", "rules", str(CASES))
    cases = CASES.read_text(encoding="utf-8")
    firing, _, healthy = cases.partition("- name: a healthy service")
    assert set(re.findall(r"^  - name: (\w+)$", firing, re.M)) == set(_alerts())
    assert set(re.findall(r"alertname: (\w+)", healthy)) == set(_alerts())


def test_promtool_takes_each_query_of_the_dashboard(tmp_path: Path) -> None:
    queries = [
        query.replace("$__rate_interval", "5m").replace("$job", "pgs").replace("$instance", ".+")
        for query in _targets()
    ]
    assert len(queries) > 20
    rules = [{"record": f"panel:{n}", "expr": query} for n, query in enumerate(queries)]
    file = tmp_path / "rules.yml"
    file.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))
    promtool("check", "rules", str(file))


def test_each_alert_has_its_section_in_the_runbooks_and_each_section_an_alert() -> None:
    sections = set(re.findall(r"^## (Pgs\w+)$", RUNBOOKS.read_text(encoding="utf-8"), re.M))
    assert sections == set(_alerts())
    for name, rule in _alerts().items():
        assert f"runbook: docs/runbooks.md#{name.lower()}\n" in rule, name
        assert re.search(r"severity: (page|ticket)\}", rule), name


def _shown(text: str) -> set[str]:
    """Return the names of all series in a scrape, and those of each histogram as its own."""
    return {
        sample.name for family in text_string_to_metric_families(text) for sample in family.samples
    } | {
        f"{family.name}{ending}"
        for family in text_string_to_metric_families(text)
        if family.type == "histogram"
        for ending in ("_bucket", "_count", "_sum")
    }


async def test_the_service_shows_each_metric_that_an_alert_or_a_panel_names(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with ready_core(tmp_path) as s:
        metrics = Metrics()
        metrics.watch(s.core, lambda: 0, lambda: 0)
        shown = _shown(metrics.scrape().decode()) | _LINUX_ONLY
    for text in (*_alerts().values(), *_targets()):
        named = set(re.findall(r"\b(?:pgs|process)_\w+", text))
        assert named <= shown, f"no such metric: {named - shown}"


def _values(text: str, label: str) -> list[str]:
    """Return each value that a query names for a label."""
    found = re.findall(rf'\b{label}(?:=~|!=|!~|=)"([^"$]+)"', text)
    return [value for values in found for value in values.split("|")]


@pytest.mark.parametrize(
    ("label", "known"),
    [
        ("event", EVENTS),
        ("class", {name for (name,) in LABELS["pgs_answers"]}),
        ("chore", {chore for chore, _ in LABELS["pgs_chore_runs"]}),
        ("outcome", {outcome for _, outcome in LABELS["pgs_chore_runs"]}),
        ("endpoint", {endpoint.path for endpoint in ENDPOINTS}),
    ],
)
def test_each_label_that_an_alert_or_a_panel_names_exists(label: str, known: set[str]) -> None:
    named = {value for text in (*_alerts().values(), *_targets()) for value in _values(text, label)}
    unknown = {value for value in named if not any(re.fullmatch(value, name) for name in known)}
    assert unknown == set()


def test_the_panels_of_the_dashboard_have_their_own_places_and_say_what_they_show() -> None:
    panels: list[dict[str, Any]] = json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        place = panel["gridPos"]
        cells = {
            (place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])
        }
        assert not cells & taken, panel["title"]
        assert place["x"] + place["w"] <= 24, panel["title"]
        taken |= cells
        assert panel["type"] == "row" or panel["description"], panel["title"]
