"""How long a test waits before it fails."""

from typing import Final

PATIENCE_S: Final = 90.0
"""How many seconds a test waits for anything before it fails. Enough for a slow machine on which
other tests run, and which stands still for some seconds."""
