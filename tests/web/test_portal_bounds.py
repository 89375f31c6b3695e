"""Bounds of the service that the portal names are those of the service, and stand in one place."""

import re
from typing import Final

from pgs.domain.days import FINAL_AFTER_S, RANGE_MAX_DAYS
from pgs.domain.factors import FRESH_S, MAX_WRONG_CODES, WINDOW_S
from pgs.domain.invites import INVITE_S
from pgs.domain.keys import ROTATION_S
from pgs.domain.names import DISPLAY_NAME_MAX, LABEL_MAX
from pgs.domain.nudges import FAILURES_TO_DISABLE, KEEP_ATTEMPTS_S, TRY_AT_S
from pgs.domain.themes import LOGO_MAX_BYTES, LOGO_MAX_SIDE, RADIUS_MAX
from pgs.domain.totp import STEP_S
from pgs.domain.webhook_urls import URL_MAX
from pgs.http.outbound.errors import NO_ANSWER
from pgs.http.outbound.tries import TRY_TIMEOUT_S
from tests.conventions.tree import ROOT

_PORTAL: Final = ROOT / "web" / "src" / "portal"
_BOUNDS: Final = _PORTAL / "parts" / "bounds.ts"

_DAY_S: Final = 24 * 3600

_OF_THE_SERVICE: Final[dict[str, float]] = {
    "DAYS_MAX": RANGE_MAX_DAYS,
    "FINAL_AFTER_MIN": FINAL_AFTER_S / 60,
    "INVITE_DAYS": INVITE_S / _DAY_S,
    "ROTATION_DAYS": ROTATION_S / _DAY_S,
    "LABEL_MAX": LABEL_MAX,
    "FRESH_MIN": FRESH_S / 60,
    "WINDOW_MIN": WINDOW_S / 60,
    "CODE_S": STEP_S,
    "WRONG_CODES_MAX": MAX_WRONG_CODES,
    "FAILURES_MAX": FAILURES_TO_DISABLE,
    "TRIES_MAX": len(TRY_AT_S),
    "ANSWER_S": TRY_TIMEOUT_S,
    "ATTEMPT_DAYS": KEEP_ATTEMPTS_S / _DAY_S,
    "URL_MAX": URL_MAX,
    "NAME_MAX": DISPLAY_NAME_MAX,
    "RADIUS_MAX": RADIUS_MAX,
    "LOGO_BYTES_MAX": LOGO_MAX_BYTES,
    "LOGO_SIDE_MAX": LOGO_MAX_SIDE,
}

_LITERAL: Final = re.compile(
    r"\b(?:\d+|two|three|five|seven|ten|fifteen|thirty) "
    r"(?:days|minutes|seconds|hours|characters|failures|tries|wrong codes|pixels|KB)\b",
    re.IGNORECASE,
)
_COMMENT: Final = re.compile(r"/\*.*?\*/|^\s*//.*?$|\s// .*?$", re.DOTALL | re.MULTILINE)

_CHOICES: Final = {"7 days", "14 days"}
"""Ranges that the page Usage offers. The service has no such bound."""


def test_each_bound_that_the_portal_names_is_the_service_s_own() -> None:
    stated = re.findall(r"^export const (\w+) = ([\d_]+);", _BOUNDS.read_text("utf-8"), re.M)
    assert {name: int(value) for name, value in stated} == _OF_THE_SERVICE


def test_no_text_of_the_portal_states_a_bound_as_a_number_of_its_own() -> None:
    found = {
        (path.name, literal)
        for path in _PORTAL.rglob("*.ts*")
        for literal in _LITERAL.findall(_COMMENT.sub("", path.read_text("utf-8")))
    }
    assert {(path, literal) for path, literal in found if literal not in _CHOICES} == set()


def test_the_portal_knows_an_answer_that_came_too_late_by_the_service_s_words() -> None:
    assert f"{TRY_TIMEOUT_S:g} seconds" in NO_ANSWER
