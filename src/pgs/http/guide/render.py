"""Renders the guide's Markdown as pages for browsers, and its index for the search.

markdown-it-py renders the Markdown (CommonMark with tables); raw HTML in it is shown as text.
"""

import re
from html import escape
from itertools import pairwise
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

from pgs.http.guide.sources import NAMES, Page

CSP: Final = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The policy of every page: nothing from elsewhere, no script or style inline, no frame around
it."""

INDEX_CHARS: Final = 90
"""Characters that the search index has of each section's beginning. The list of hits shows them."""

_PAGE_NAMES: Final = frozenset(name for name, _ in NAMES)
_LINK = re.compile(r"\[([^\]]+)\]\((?:\.\./)*([^)#:]*)(#[^)]*)?\)")
_IMAGE = re.compile(r"!\[([^\]]*)\]\([^)]*\)")
_markdown = MarkdownIt("commonmark", {"html": False}).enable("table")


def as_published(text: str) -> str:
    """Return a page's Markdown as it is published, without links to files of the checkout.

    A link to the file of a published page leads to that page, and a link to a README to the first
    page. Of a link to any other file, and of an image, only the text is kept. Other links stay as
    they are.
    """
    return _LINK.sub(_target, _IMAGE.sub(r"\1", text))


def _target(found: re.Match[str]) -> str:
    text, path, anchor = found[1], found[2], found[3] or ""
    if path.startswith("/") or not path:
        return f"[{text}]({path}{anchor})"
    name = path.rpartition("/")[2].removesuffix(".md")
    if path.endswith(".md") and name in _PAGE_NAMES:
        return f"[{text}](/docs/{name}{anchor})"
    return f"[{text}](/docs/)" if name == "README" else text


def slug_of(title: str) -> str:
    """Return a heading's anchor. A reason's anchor is the reason."""
    return re.sub(r"[^a-z0-9_]+", "-", title.lower()).strip("-")


def render_page(page: Page, base_url: str) -> str:
    """Return a page as a whole HTML document."""
    tokens = _markdown.parse(as_published(page.text))
    _anchor(tokens)
    body = _markdown.renderer.render(tokens, _markdown.options, {})
    body = body.replace("<table>", '<div class="table"><table>').replace(
        "</table>", "</table></div>"
    )
    items = "".join(_menu_item(name, title, page) for name, title in NAMES)
    return _FRAME.format(title=escape(page.title), menu=items, body=body, base=escape(base_url))


def _menu_item(name: str, title: str, page: Page) -> str:
    current = ' aria-current="page"' if name == page.name else ""
    address = "/docs/" if name == "start" else f"/docs/{name}"
    return f'<li><a href="{address}"{current}>{escape(title)}</a></li>'


def _anchor(tokens: list[Token]) -> None:
    taken: dict[str, int] = {}
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open":
            slug = slug_of(inline.content)
            taken[slug] = taken.get(slug, 0) + 1
            opening.attrSet("id", slug if taken[slug] == 1 else f"{slug}-{taken[slug]}")


def index_of(pages: list[Page]) -> list[dict[str, str]]:
    """Return the search index: every section with its address, its title and its beginning.

    `words` has each word of the whole section once, in lower case.
    """
    found = []
    for page in pages:
        for part in re.split(r"(?m)^#{1,3} ", page.text)[1:]:
            title, _, text = part.partition("\n")
            plain = re.sub(r"[`*|#\[\]]|\(\S+\)|-{3,}", " ", text)
            found.append(
                {
                    "page": page.title,
                    "title": title,
                    "url": f"/docs/{page.name}#{slug_of(title)}",
                    "text": re.sub(r"\s+", " ", plain).strip()[:INDEX_CHARS],
                    "words": " ".join(_words_of(text)),
                }
            )
    return found


def _words_of(text: str) -> list[str]:
    """Return the words of a section, without random ids, hashes and words over 40 characters."""
    shown = re.sub(r"\]\([^)\s]+\)", "]", text)
    found = (word.lower().strip("_-") for word in _WORD.findall(shown))
    return sorted({word for word in found if word and not _RANDOM.search(word)})


_WORD = re.compile(r"[^\W\d][\w-]*|[0-9]{3}\b")
_RANDOM = re.compile(r"[0-9a-f]{16}|^.{41,}$")


_FRAME: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} · Partner Game Service</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/tokens.css">
<link rel="stylesheet" href="/docs/guide.css">
<script src="/docs/guide.js" defer></script>
</head>
<body data-base="{base}">
<a class="skip" href="#content">Skip to the text</a>
<header>
<a class="home" href="/docs/">Partner Game Service</a>
<form role="search"><input type="search" aria-label="Search the guide" placeholder="Search"
 autocomplete="off"><ol class="found" hidden></ol></form>
</header>
<nav aria-label="Guide"><details open><summary>Pages</summary><ul>{menu}</ul></details></nav>
<main id="content">{body}</main>
</body>
</html>
"""
