"""The clients' errors are those of the service."""

import re

from pgs.domain.errors import ERRORS
from pgs.http.endpoint_table import ENDPOINTS
from pgs_client.errors import BY_CODE, service_error
from tests.clients.node import JS


def _codes() -> set[str]:
    """Return every code with which a call with a key may be refused."""
    common = {
        "invalid_key",
        "rate_limited",
        "partner_inactive",
        "unsupported_api_version",
        "test_key_against_live",
        "live_key_against_test",
        "registry_unavailable",
    }
    return common.union(
        *(endpoint.errors for endpoint in ENDPOINTS if endpoint.credential == "partner_key")
    )


def test_the_python_client_has_a_type_for_each_code_that_a_key_may_meet() -> None:
    assert _codes() - BY_CODE.keys() == set()
    assert BY_CODE.keys() - ERRORS.keys() == set()


def test_each_code_has_the_type_of_its_status() -> None:
    for code, kind in BY_CODE.items():
        error = service_error(ERRORS[code].status, {"reason": code})
        assert type(error) is kind


def test_the_javascript_client_has_the_same_types_as_the_python_client() -> None:
    text = (JS / "src" / "errors.ts").read_text(encoding="utf-8")
    coded = re.findall(
        r"export class (\w+) extends (\w+) \{\n  static readonly code = '(\w+)';", text
    )
    assert {code: (name, base) for name, base, code in coded} == {
        code: (kind.__name__, kind.__base__.__name__ if kind.__base__ else "")
        for code, kind in BY_CODE.items()
    }
    listed = text.partition("const CODED = [")[2].partition("]")[0]
    assert set(re.findall(r"\w+", listed)) == {name for name, _, _ in coded}
