"""A number has the singular after 1, and the plural after every other number."""

from pgs.domain.plurals import counted, the_last


def test_one_is_followed_by_the_singular_and_every_other_number_by_the_plural() -> None:
    assert [counted(number, "day") for number in (0, 1, 2, 11)] == [
        "0 days",
        "1 day",
        "2 days",
        "11 days",
    ]
    assert [counted(number, "charge is", "charges are") for number in (1, 2)] == [
        "1 charge is",
        "2 charges are",
    ]


def test_the_last_one_needs_no_number() -> None:
    assert [the_last(number, "commit") for number in (1, 2)] == [
        "the last commit",
        "the last 2 commits",
    ]
