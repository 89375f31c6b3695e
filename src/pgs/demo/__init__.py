"""`pgs demo`: the whole service on this machine, and a partner's backend that plays a match against it, told step by step."""

from pgs.demo.demo import run

__all__ = ["run"]
