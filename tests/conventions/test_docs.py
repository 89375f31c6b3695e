"""The documents agree with the code."""

import ast
import dataclasses
import re

import pytest

from pgs.actors.maintenance.chores import CHORES
from pgs.config import Config
from pgs.domain.roles import rank, rule_of
from pgs.http.endpoint_table import ENDPOINTS as SURFACE
from pgs.operator.commands import COMMANDS
from tests.conventions.tree import ROOT, SOURCE, files

ARCHITECTURE, OPERATIONS, README = ("docs/architecture.md", "docs/operations.md", "README.md")
DOCUMENTS = [
    README,
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    *(str(path.relative_to(ROOT)) for path in files(ROOT / "clients", ".md")),
    *(str(path.relative_to(ROOT)) for path in files(ROOT / "docs", ".md")),
]

# A checkout may lack this folder: the build makes it, and git ignores it.
_BUILT = "src/pgs/web/"
_A_FILE = re.compile(r"`((?:[\w.-]+/)+[\w.-]*|[\w-]+\.(?:py|sql|md|toml))`")


def _text(document: str) -> str:
    return (ROOT / document).read_text(encoding="utf-8")


def _rows(document: str, heading: str) -> list[list[str]]:
    """Return the cells of each row of the table below a heading, without its head."""
    section = _text(document).partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


@pytest.mark.parametrize(
    "document",
    [
        ARCHITECTURE,
        "docs/embed.md",
        "docs/play.md",
        *(name for name in DOCUMENTS if name.startswith("docs/decisions")),
    ],
)
def test_every_file_that_a_document_names_exists(document: str) -> None:
    assert _missing_files(_text(document)) == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_path_from_the_root_that_a_document_names_exists(document: str) -> None:
    missing = _missing_files(_text(document))
    at_the_top = {path.name for path in ROOT.iterdir() if path.is_dir()}
    assert [name for name in missing if name.partition("/")[0] in at_the_top] == []


def test_a_document_may_name_a_file_that_only_the_build_makes() -> None:
    text = (
        "See `src/pgs/web/frame/not-built-yet.js`, `src/pgs/web/` and `src/pgs/never-written.py`."
    )
    assert _missing_files(text) == ["src/pgs/never-written.py"]


def _missing_files(text: str) -> list[str]:
    """Return the files that a text names and the checkout lacks, except build output."""
    named = [name for name in _A_FILE.findall(text) if not name.startswith(_BUILT)]
    return [name for name in named if not ((ROOT / name).exists() or (SOURCE / name).exists())]


ENDPOINTS = [endpoint for endpoint in SURFACE if endpoint.credential == "partner_key"]
ADMIN_ENDPOINTS = [endpoint for endpoint in SURFACE if endpoint.credential == "identity"]
_COLUMNS = 100
_PAGES = [name for name in DOCUMENTS if name not in (ARCHITECTURE, "CONTRIBUTING.md")]


@pytest.mark.parametrize("document", _PAGES)
def test_every_page_begins_by_naming_its_readers(document: str) -> None:
    assert _text(document).split("\n\n")[1].startswith("This page is for ")


@pytest.mark.parametrize("document", _PAGES)
def test_no_line_of_a_page_is_too_wide_except_table_rows_and_pictures(document: str) -> None:
    lines = [line for line in _text(document).splitlines() if not line.startswith(("|", "!["))]
    assert [line for line in lines if len(line) > _COLUMNS] == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_link_between_documents_leads_somewhere(document: str) -> None:
    targets = [
        target.partition("#")[0]
        for target in re.findall(r"\]\(([^)]+)\)", _text(document))
        if "://" not in target
    ]
    assert [target for target in targets if not ((ROOT / document).parent / target).exists()] == []


def _anchors(text: str) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them. No page repeats a heading."""
    plain = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", plain, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_an_anchor_is_the_heading_in_small_letters_and_no_code_makes_one() -> None:
    assert _anchors("# `GET`: a page's name\n\n```\n# Comment\n```\n") == {"get-a-pages-name"}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_link_to_a_section_names_a_heading(document: str) -> None:
    missing = []
    for target in re.findall(r"\]\(([^)]*#[^)]+)\)", _text(document)):
        page, _, anchor = target.partition("#")
        place = (ROOT / document).parent / page if page else ROOT / document
        if "://" not in page and anchor not in _anchors(place.read_text(encoding="utf-8")):
            missing.append(target)
    assert missing == []


def test_the_settings_table_lists_every_setting_with_its_default() -> None:
    documented = {
        name.strip("`"): (variable.strip("`"), default.strip("`"))
        for name, variable, default, *_ in _rows(OPERATIONS, "Settings")
    }
    declared = {
        field.name: (
            f"PGS_{field.name.upper()}",
            "empty" if field.default in ("", None) else str(field.default),
        )
        for field in dataclasses.fields(Config)
    }
    assert documented == declared


def test_every_setting_has_a_unit_and_a_reason() -> None:
    assert [row[0] for row in _rows(OPERATIONS, "Settings") if len(row) != 5 or not all(row)] == []


def test_the_readme_lists_every_call_and_no_other() -> None:
    documented = {re.match(r"`([A-Z]+ [^`?]+)", row[0]) for row in _rows(README, "The calls")}
    listed = {match[1] for match in documented if match}
    assert listed == {f"{endpoint.method} {endpoint.path}" for endpoint in ENDPOINTS}


def test_the_readme_lists_the_query_parameters_of_each_call() -> None:
    listed = [
        match.groups()
        for row in _rows(README, "The calls")
        if (match := re.match(r"`([A-Z]+) ([^`?]+)\??([^`]*)`", row[0]))
    ]
    documented = {
        f"{method} {path}": {pair.rstrip("=") for pair in query.split("&") if pair}
        for method, path, query in listed
    }
    assert documented == {
        f"{endpoint.method} {endpoint.path}": set(endpoint.query) for endpoint in ENDPOINTS
    }


def test_every_metric_is_documented() -> None:
    files = ("metrics.py", "answer_metrics.py")
    source = "".join((SOURCE / file).read_text(encoding="utf-8") for file in files)
    counters = re.findall(r'Counter(?:MetricFamily)?\(\s*"(pgs_\w+)"', source)
    exported = {
        f"{name}_total" if name in counters else name for name in re.findall(r'"(pgs_\w+)"', source)
    }
    assert exported == set(re.findall(r"^\| `(pgs_\w+)`", _text(OPERATIONS), re.MULTILINE))


def test_every_chore_is_on_the_operations_page_with_its_pause() -> None:
    documented = {
        row[0].strip("`"): (row[1].partition(" s")[0], row[2].endswith("; required"))
        for row in _rows(OPERATIONS, "Background work")
    }
    assert documented == {chore.name: (f"{chore.every_s:g}", chore.required) for chore in CHORES}


def test_the_event_of_every_chore_that_fails_is_on_the_operations_page() -> None:
    page = _text(OPERATIONS)
    events = {chore.failed for chore in CHORES}
    assert [event for event in sorted(events) if f"`{event}`" not in page] == []


def test_every_event_that_the_operations_page_names_is_in_the_code() -> None:
    source = "\n".join(path.read_text(encoding="utf-8") for path in files(SOURCE, ".py"))
    section = _text(OPERATIONS).partition("\n## Logs\n")[2].partition("\n## ")[0]
    events = {
        name
        for line in section.splitlines()
        if line.startswith("| `")
        for name in re.findall(r"`(\w+)`", line.split(" | ")[0])
    }
    assert events
    assert [event for event in sorted(events) if f'"{event}"' not in source] == []


_LOG_CALLS = {"debug", "info", "warning", "error", "exception", "log_error", "report"}


def _logged_in(code: str) -> set[str]:
    """Return the events that a module logs under a fixed name."""
    calls = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)]
    return {
        call.args[0].value
        for call in calls
        if isinstance(call.func, ast.Attribute | ast.Name)
        and (call.func.attr if isinstance(call.func, ast.Attribute) else call.func.id) in _LOG_CALLS
        and call.args
        and isinstance(call.args[0], ast.Constant)
        and isinstance(call.args[0].value, str)
    }


def test_the_search_for_logged_events_finds_functions_and_methods() -> None:
    assert _logged_in('log.info("one", at=1)\nlog_error("two", error)\nprint("three")') == {
        "one",
        "two",
    }


def test_every_event_that_the_service_logs_is_on_the_operations_page() -> None:
    page = _text(OPERATIONS)
    logged = {
        event
        for path in files(SOURCE, ".py")
        if path.relative_to(SOURCE).parts[0] not in ("demo", "devissuer")
        for event in _logged_in(path.read_text(encoding="utf-8"))
    }
    assert logged
    assert [event for event in sorted(logged) if f"`{event}`" not in page] == []


def test_every_operator_command_is_on_the_operations_page() -> None:
    text = _text(OPERATIONS)
    assert [name for name in COMMANDS if f"pgs {name.replace('.', ' ')}" not in text] == []


ADMIN = "docs/admin.md"


def _admin_rows() -> dict[str, list[str]]:
    """Return the table rows of the admin page by their call, without that first cell."""
    rows = [
        [cell.strip() for cell in line.strip("|").split(" | ")]
        for line in _text(ADMIN).splitlines()
        if line.startswith("| `")
    ]
    return {row[0].strip("`"): row[1:] for row in rows if re.match(r"`[A-Z]+ ", row[0])}


def _name(method: str, path: str) -> str:
    return f"{method} {path.removeprefix('/partner/admin/')}"


def test_the_admin_page_lists_every_admin_call_and_no_other() -> None:
    assert set(_admin_rows()) == {
        _name(endpoint.method, endpoint.path) for endpoint in ADMIN_ENDPOINTS
    }


def test_the_admin_page_says_who_may_make_each_call_and_which_code_it_needs() -> None:
    told = {call: row[:2] for call, row in _admin_rows().items()}
    declared = {}
    for endpoint in ADMIN_ENDPOINTS:
        rule = rule_of(endpoint.method, endpoint.path)
        least: str = min(rule.roles, key=rank)
        least = least if rule.membership else "anybody"
        declared[_name(endpoint.method, endpoint.path)] = [
            least,
            "–" if rule.step_up == "none" else rule.step_up,
        ]
    assert told == declared


def test_the_admin_page_names_every_reason_that_its_calls_declare() -> None:
    common = {
        "partner_changed",
        "invalid_cursor",
        "missing_parameter",
        "rate_limited",
        "settlement_unavailable",
    }
    missing = {
        (call, reason)
        for endpoint in ADMIN_ENDPOINTS
        for reason in set(endpoint.errors) - common
        for call in [_name(endpoint.method, endpoint.path)]
        if f"`{reason}`" not in _admin_rows()[call][2]
        and f"`429 {reason}`" not in _admin_rows()[call][2]
    }
    assert missing == set()
