"""What the tests of the edge share."""

from collections import Counter


def count_in(events: Counter[str], name: str) -> None:
    """Count an event. `partial(count_in, counter)` is an `on_event`."""
    events[name] += 1
