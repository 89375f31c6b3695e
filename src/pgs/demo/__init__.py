"""`pgs demo`: the whole service on this machine, and a partner's backend that plays a match on it."""

from typing import Final

BOTS_MAX: Final = 200
"""Bots that the demo starts. More would fill the terminal with results and nothing else; load
scripts call `play_match` themselves."""
