import pytest

from pgs.domain.environments import ENVIRONMENTS, is_environment


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_both_environments_are_known_by_their_names(environment: str) -> None:
    assert is_environment(environment)


@pytest.mark.parametrize(
    "text", ["", "Live", "TEST", "live ", "test\n", "prod", "testlive", None, 1, b"live"]
)
def test_no_other_value_names_an_environment(text: object) -> None:
    assert not is_environment(text)
