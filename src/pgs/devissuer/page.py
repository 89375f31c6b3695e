"""The page that asks who signs in."""

import base64
import hashlib
from collections.abc import Sequence
from html import escape
from typing import Final

from pgs.devissuer.people import Person

_STYLE: Final = (
    "body{font:1rem/1.5 system-ui,sans-serif;max-width:28rem;margin:3rem auto;padding:0 1rem}"
    "button{display:block;width:100%;margin:.5rem 0;padding:.75rem;font:inherit;text-align:left}"
    "small{display:block}.warning{border-left:.25rem solid #b45309;padding-left:.75rem}"
)
_STYLE_HASH: Final = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()

HEADERS: Final = {
    # No form-action: browsers would also apply it to the redirect after the form.
    "Content-Security-Policy": (
        f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}';"
        " base-uri 'none'; frame-ancestors 'none'"
    ),
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def sign_in_page(people: Sequence[Person]) -> str:
    """Return the page. Its form is posted to the URL of the page, query included."""
    buttons = "".join(
        f'<button name="person" value="{escape(person.uid)}">{escape(person.name)}'
        f"<small>{escape(person.email)}"
        f"{'' if person.email_verified else ' (not verified)'}</small></button>"
        for person in people
    )
    return _document(
        "Sign in",
        '<p class="warning">This is a development sign-in. It asks for no password and is never to'
        " be used in production.</p>"
        f'<form method="post">{buttons}<button name="person" value="">Cancel</button></form>',
    )


def error_page(words: str) -> str:
    """Return a page that says why the sign-in failed."""
    return _document("Sign-in failed", f"<p>{escape(words)}</p>")


def _document(title: str, content: str) -> str:
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width">'
        f"<title>{title}</title><style>{_STYLE}</style><h1>{title}</h1>{content}</html>"
    )
