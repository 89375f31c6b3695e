"""Which values the fields of a theme can take."""

from typing import Any

import pytest
from msgspec.structs import replace

from pgs.domain.themes import DEFAULT, check_theme, contrast, logo_path


def test_the_default_theme_is_valid_and_shows_amounts() -> None:
    assert check_theme(DEFAULT) is None
    assert (DEFAULT.show_amounts, DEFAULT.revision, DEFAULT.updated_at) == (True, 0, None)


@pytest.mark.parametrize(
    ("one", "other", "ratio"),
    [
        ("#000000", "#ffffff", 21.0),
        ("#ffffff", "#ffffff", 1.0),
        ("#777777", "#ffffff", 4.48),
        ("#767676", "#FFFFFF", 4.54),
        ("#ff0000", "#000000", 5.25),
    ],
)
def test_contrast_is_that_of_wcag(one: str, other: str, ratio: float) -> None:
    assert contrast(one, other) == contrast(other, one) == pytest.approx(ratio, abs=0.005)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"display_name": "x" * 65}, "displayName"),
        ({"display_name": "Ac\nme"}, "displayName"),
        ({"display_name": "Ac\u202eme"}, "displayName"),
        ({"display_name": "  "}, "displayName"),
        ({"primary_color": "#12345"}, "primaryColor"),
        ({"primary_color": "red"}, "primaryColor"),
        ({"background_color": "#1234567"}, "backgroundColor"),
        ({"background_color": "#ffffff\n"}, "backgroundColor"),
        ({"text_color": "#\uff11\uff12\uff13456"}, "textColor"),
        ({"corner_radius": -1}, "cornerRadius"),
        ({"corner_radius": 33}, "cornerRadius"),
        ({"text_color": "#777777"}, "textColor"),
        ({"background_color": "#202020"}, "textColor"),
    ],
)
def test_a_value_that_a_field_cannot_take_names_the_field(
    changes: dict[str, Any], field: str
) -> None:
    refusal = check_theme(replace(DEFAULT, **changes))
    assert refusal is not None
    assert (refusal.reason, refusal.extras) == ("theme_field_invalid", {"parameter": field})


def test_a_text_that_cannot_be_read_names_both_colours_and_their_contrast() -> None:
    refusal = check_theme(replace(DEFAULT, text_color="#777777", background_color="#FFFFFF"))
    assert refusal is not None
    for part in ("textColor", "backgroundColor", "#777777", "#FFFFFF", "4.47:1", "4.5:1"):
        assert part in (refusal.message or "")


@pytest.mark.parametrize(
    "changes",
    [
        {"display_name": "x" * 64},
        {"display_name": ""},
        {"text_color": "#767676"},
        {"background_color": "#000000", "text_color": "#ABCDEF"},
        {"corner_radius": 0},
        {"corner_radius": 32},
    ],
)
def test_a_theme_with_valid_values_is_accepted(changes: dict[str, Any]) -> None:
    assert check_theme(replace(DEFAULT, **changes)) is None


def test_a_logo_stands_below_the_frame_of_its_environment() -> None:
    assert logo_path("acme", "live", "00") == "/embed/acme/logo/00"
    assert logo_path("acme", "test", "00") == "/embed/test/acme/logo/00"
