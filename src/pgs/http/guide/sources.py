"""Reads the pages of the guide from their sources.

A page is a Markdown file of the package, a page of the checkout's `docs` folder that the wheel
contains too, or a text that is made from the code.
"""

from importlib.resources import files
from pathlib import Path
from typing import Final

import msgspec

from pgs.domain.days import DAY_S, RANGE_MAX_DAYS
from pgs.domain.keys import ROTATION_S
from pgs.domain.names import DISPLAY_NAME_MAX, PARTNER_REF_MAX
from pgs.domain.nudges import FAILURES_TO_DISABLE
from pgs.domain.origins import MAX_ORIGINS
from pgs.domain.seats import WAIT_S
from pgs.domain.sessions import TTL_MAX
from pgs.domain.token_buckets import PARTNER_POLICY
from pgs.http.api.lists import LIMIT_DEFAULT, LIMIT_MAX
from pgs.http.api.themes import THEME_BODY_BYTES
from pgs.http.guide.errors import errors_page
from pgs.http.guide.reference import reference_page
from pgs.http.partner.results import WAIT_MAX_S
from pgs.http.transport.edge import DEFAULT_BODY_BYTES

_PUBLISHED: Final = files("pgs.http").joinpath("published")
_CHECKOUT: Final = Path(__file__).parents[4]
SHARED: Final = ("admin", "api", "billing", "embed", "games", "pairing", "play", "webhooks")
"""Pages that are also pages of the checkout's `docs` folder."""


class Page(msgspec.Struct, frozen=True):
    """A page: its name in the address, its title and its Markdown."""

    name: str
    title: str
    text: str


NAMES: Final = (
    ("start", "Your first match"),
    ("contract", "The contract"),
    ("api", "In depth"),
    ("reference", "Every call"),
    ("errors", "Errors"),
    ("webhooks", "Webhooks"),
    ("embed", "The frame"),
    ("play", "Playing"),
    ("games", "Games"),
    ("pairing", "Pairing"),
    ("billing", "Billing"),
    ("admin", "Managing an account"),
    ("limits", "Limits"),
    ("going-live", "Going live"),
    ("changelog", "Changelog"),
)
"""The pages with their titles, in the order of the menu."""


def read_published(name: str) -> str:
    """Return the text of a published file. In a checkout, some are in `docs` and `web`."""
    packaged = _PUBLISHED.joinpath(name)
    if packaged.is_file():
        return packaged.read_text(encoding="utf-8")
    folder = "web/src/design" if name.endswith(".css") else "docs"
    return (_CHECKOUT / folder / name).read_text(encoding="utf-8")


def all_pages() -> list[Page]:
    """Return every page in the order of the menu."""
    made = {"errors": errors_page, "reference": reference_page}
    pages = []
    for name, title in NAMES:
        text = made[name]() if name in made else read_published(f"{name}.md")
        text = _with_limits(text) if name == "limits" else text
        pages.append(Page(name, title, text))
    return pages


def _with_limits(text: str) -> str:
    values = {
        "BURST": PARTNER_POLICY.burst,
        "RATE": PARTNER_POLICY.rate,
        "BODY": DEFAULT_BODY_BYTES,
        "THEME_BODY": THEME_BODY_BYTES,
        "LIMIT": LIMIT_MAX,
        "LIMIT_DEFAULT": LIMIT_DEFAULT,
        "WAIT": WAIT_MAX_S,
        "DAYS": RANGE_MAX_DAYS,
        "REF": PARTNER_REF_MAX,
        "NAME": DISPLAY_NAME_MAX,
        "TTL": TTL_MAX,
        "LIVE": WAIT_S["live"],
        "TEST": WAIT_S["test"],
        "ORIGINS": MAX_ORIGINS,
        "ROTATION": ROTATION_S // DAY_S,
        "FAILURES": FAILURES_TO_DISABLE,
    }
    return text.format_map(values)
