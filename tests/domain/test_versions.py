import pytest

from pgs.domain.errors import Refusal
from pgs.domain.versions import VERSIONS, ServedVersions, choose

THREE = ServedVersions(frozenset({1, 2, 3}), 3)


def _is_refused(chosen: int | Refusal) -> bool:
    """Return whether the version was refused, with the versions that are served."""
    return (
        isinstance(chosen, Refusal)
        and chosen.reason == "unsupported_api_version"
        and "1, 2, 3" in (chosen.message or "")
    )


def test_only_version_1_is_served_today() -> None:
    assert ServedVersions(frozenset({1}), 1) == VERSIONS


@pytest.mark.parametrize("pin", [1, 2, 3])
def test_a_call_without_the_header_is_answered_in_the_pinned_version(pin: int) -> None:
    assert choose(None, pin, THREE) == pin


@pytest.mark.parametrize("header", [b"2", "2"])
def test_a_served_version_in_the_header_beats_the_pin(header: bytes | str) -> None:
    assert choose(header, 1, THREE) == 2


@pytest.mark.parametrize(
    "header",
    [
        "4",
        "0",
        "01",
        "1.0",
        "v1",
        " 1",
        "1 ",
        "1\n",
        "+1",
        "-1",
        "1_0",
        "\uff11",
        "\u0661",
        "",
        "1,1",
        "null",
        "\udcff",
    ],
)
def test_a_header_that_names_no_served_version_is_refused(header: str) -> None:
    assert _is_refused(choose(header, 1, THREE))
    assert _is_refused(choose(header.encode("utf-8", "surrogatepass"), 1, THREE))


def test_bytes_outside_ascii_are_refused() -> None:
    assert _is_refused(choose(b"\xb2", 1, THREE))


def test_a_number_of_a_million_digits_is_refused_without_converting_it() -> None:
    # `int` would raise, because Python converts at most 4,300 digits.
    assert _is_refused(choose(b"1" * 1_000_000, 1, THREE))
