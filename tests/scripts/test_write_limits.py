"""The page of limits: which numbers it has, and which sentences are required of them."""

import sys
from pathlib import Path
from textwrap import dedent

import pytest

from tests.conventions.tree import ROOT

sys.path.insert(0, str(ROOT / "scripts"))

from limits.collect import Bound, collect, numbers_of
from limits.page import fault_of, heading_of, is_limit, page, unit_of


def found(source: str) -> list[tuple[str, float, str]]:
    return [(name, value, text) for _, _, name, value, text in numbers_of(dedent(source), "a.py")]


def bound(text: str, name: str = "PAGE", value: float = 500, file: str = "storage/a.py") -> Bound:
    return Bound(file, 1, name, value, text)


def test_the_sentence_of_a_number_may_be_below_beside_or_above_it() -> None:
    source = '''
        FIRST_S = 5.0
        """Seconds of the first thing.
        It goes on."""

        SECOND = 1 << 4  # rows of the second thing
        # Bytes of the third thing,
        # on two lines.
        THIRD: Final = 2 * 1024
        FOURTH = 4
    '''
    assert found(source) == [
        ("FIRST_S", 5.0, "Seconds of the first thing. It goes on."),
        ("SECOND", 16, "rows of the second thing"),
        ("THIRD", 2048, "Bytes of the third thing, on two lines."),
        ("FOURTH", 4, ""),
    ]


def test_a_suppression_comment_is_no_sentence() -> None:
    assert found("TOKEN_MAX = 8  # noqa: S105") == [("TOKEN_MAX", 8, "")]


def test_fields_of_limits_and_entries_of_tables_are_found() -> None:
    source = '''
        class ServerLimits(Struct):
            """Limits."""

            head_s: float = 10.0
            """Seconds for a head."""

            name: str = "x"

        class Seat(Struct):
            revision: int = 0

        LIMITS = ServerLimits(head_s=0.5)
        """Limits of a listener."""

        WAIT_S = {"live": 300, "test": 60 * 60}
        """Seconds of waiting."""
    '''
    assert found(source) == [
        ("ServerLimits.head_s", 10.0, "Seconds for a head."),
        ("LIMITS.head_s", 0.5, "Limits of a listener."),
        ("WAIT_S['live']", 300, "Seconds of waiting."),
        ("WAIT_S['test']", 3600, "Seconds of waiting."),
    ]


def test_texts_flags_calls_and_variables_are_not_found() -> None:
    source = """
        NAME = "ten"
        DEBUG = True
        T = TypeVar("T")
        LENGTH = len(NAME)
        lower = 5
        def f() -> None:
            INNER = 3
    """
    assert found(source) == []


def test_a_number_may_be_computed_from_one_of_another_module(tmp_path: Path) -> None:
    package = tmp_path / "pgs"
    (package / "domain").mkdir(parents=True)
    (package / "domain" / "ratings.py").write_text("POINT = 1000\n")
    (package / "waves.py").write_text("from pgs.domain.ratings import POINT\nCAP = 4 * POINT\n")
    assert [(name, value) for _, _, name, value, _ in collect(package)] == [
        ("POINT", 1000),
        ("CAP", 4000),
    ]


@pytest.mark.parametrize(
    ("name", "text", "unit"),
    [
        ("WAIT_S", "A seat waits this long.", "s"),
        ("PACE_MS", "A bot thinks this long.", "ms"),
        ("PAGE", "Rows told in one go.", "rows"),
        ("QUIET", "Half-moves without a capture.", "half-moves"),
        ("CAP_PER_S", "Points that a second adds.", "points"),
        ("LIMITS.max_connections", "Limits of a listener.", "connections"),
        ("PAGE", "This many rows.", None),
        ("PAGE", "how much is told", None),
    ],
)
def test_the_unit_ends_the_name_or_begins_the_sentence(
    name: str, text: str, unit: str | None
) -> None:
    assert unit_of(bound(text, name)) == unit


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "tells its unit and its reason"),
        ("Rows of one page.", "tells its unit and its reason"),
        ("So many rows that the writer takes some milliseconds.", "begin with its unit"),
    ],
)
def test_a_sentence_without_unit_or_reason_is_a_fault(text: str, fault: str) -> None:
    assert fault in (fault_of(bound(text)) or "")


def test_a_sentence_with_unit_and_reason_is_no_fault() -> None:
    assert fault_of(bound("Rows of one page. More would hold the writer for too long.")) is None


def test_close_codes_need_a_sentence_and_are_not_on_the_page() -> None:
    code = bound("Close code of a server that stops (RFC 6455, section 7.4.1).", "GOING_AWAY", 1001)
    assert fault_of(code) is None
    assert not is_limit(code)
    assert "GOING_AWAY" not in page([code])


def test_the_page_lists_values_with_units_below_the_heading_of_their_file() -> None:
    text = page(
        [
            bound("Rows of a page, few enough for one transaction.", value=5000),
            bound("Seconds of keeping: the thirty days that are promised", "KEEP_S", 2_592_000.0),
            bound("Bytes of a body | head; 2**14 are usual.", "BODY_BYTES", 16384, "http/api/b.py"),
            bound("Bytes of free disk that a copy needs.", "FREE_BYTES", 2 << 30),
            bound("Reads at the same time, because each is long.", value=1),
        ]
    )
    storage = text.partition("\n## Storage\n")[2]
    assert "| 5,000 rows | Rows of a page, few enough for one transaction. | `PAGE` in " in storage
    assert "| 2,147,483,648 bytes (2 GiB) | Bytes of free disk" in storage
    assert "| 1 read | Reads at the same time" in storage
    assert "| 2,592,000 s (30 days) | Seconds of keeping: the thirty days that are" in storage
    requests = text.partition("\n## Requests and connections\n")[2].partition("\n## ")[0]
    assert "| 16,384 bytes (16 KiB) | Bytes of a body \\| head; 2^14 are usual. |" in requests


def test_a_file_has_the_heading_of_its_folder_or_none() -> None:
    assert heading_of(bound("Rows.", file="elsewhere/a.py")) is None
    assert heading_of(bound("Rows.", file="storage/a.py")) == "Storage"
