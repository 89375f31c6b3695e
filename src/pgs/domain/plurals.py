"""Numbers with the noun that they count, in English."""


def counted(number: int, one: str, several: str | None = None) -> str:
    """Return "1 day" or "2 days".

    `one` is the text after the number 1, `several` the text after every other number. Without
    `several`, it is `one` with an s.
    """
    return f"{number} {one if number == 1 else several or one + 's'}"


def the_last(number: int, noun: str) -> str:
    """Return "the last day" or "the last 2 days"."""
    return f"the last {noun if number == 1 else counted(number, noun)}"
