"""`pgs demo`: the service on this machine, and a partner's backend that plays a match on it."""

from typing import Final

BOTS_MAX: Final = 200
"""Bots that the demo starts at most. With more, the terminal would show only results. For load,
use `scripts/load_games.py`, which has bots of its own."""
