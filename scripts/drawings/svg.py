"""A small SVG writer: boxes, arrows and text, readable on a light and on a dark page."""

from html import escape

LETTER = 0.56  # width of an average letter of the font below, in font sizes

_STYLE = """
svg { font-family: system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
.page { fill: #ffffff; }
.box { fill: #f4f6f8; stroke: #8a97a5; }
.mark { fill: #e7f0fb; stroke: #3b78c4; }
.line { stroke: #5d6b7a; fill: none; }
.faint { stroke: #c3ccd5; fill: none; }
.head { fill: #5d6b7a; }
.strong { fill: #16202b; font-weight: 600; }
.text { fill: #16202b; }
.small { fill: #51606f; }
@media (prefers-color-scheme: dark) {
  .page { fill: #0d1117; }
  .box { fill: #1b222b; stroke: #66727f; }
  .mark { fill: #14283f; stroke: #5b9bea; }
  .line { stroke: #9aa7b4; }
  .faint { stroke: #37424e; }
  .head { fill: #9aa7b4; }
  .strong, .text { fill: #e6edf3; }
  .small { fill: #a3b0bd; }
}
""".strip()


class Drawing:
    """One picture. Coordinates are pixels from the upper left corner."""

    def __init__(self, width: int, height: int, title: str, description: str) -> None:
        self._size = (width, height)
        self._parts = [
            f"<title>{escape(title)}</title>",
            f"<desc>{escape(description)}</desc>",
            f"<style>{_STYLE}</style>",
            '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
            'markerHeight="8" orient="auto-start-reverse">'
            '<path class="head" d="M0 0 8 4 0 8z"/></marker></defs>',
            f'<rect class="page" width="{width}" height="{height}"/>',
        ]

    def box(self, x: float, y: float, width: float, height: float, kind: str = "box") -> None:
        """Draw a rectangle; `kind` is `box`, or `mark` for one that stands out."""
        self._parts.append(
            f'<rect class="{kind}" x="{x:g}" y="{y:g}" '
            f'width="{width:g}" height="{height:g}" rx="6"/>'
        )

    def text(
        self,
        x: float,
        y: float,
        text: str,
        kind: str = "text",
        size: int = 13,
        anchor: str = "start",
    ) -> None:
        """Write one line; `kind` is `text`, `strong` or `small`, `anchor` as in SVG."""
        self._parts.append(
            f'<text class="{kind}" x="{x:g}" y="{y:g}" font-size="{size}" '
            f'text-anchor="{anchor}">{escape(text)}</text>'
        )

    def line(self, x: float, y: float, to_x: float, to_y: float, kind: str = "faint") -> None:
        """Draw a straight line."""
        self._parts.append(
            f'<line class="{kind}" x1="{x:g}" y1="{y:g}" x2="{to_x:g}" y2="{to_y:g}"/>'
        )

    def arrow(self, points: list[tuple[float, float]], *, dashed: bool = False) -> None:
        """Draw an arrow along points, with its head at the last one."""
        path = "M" + " ".join(f"{x:g} {y:g}" for x, y in points)
        dash = ' stroke-dasharray="4 3"' if dashed else ""
        self._parts.append(f'<path class="line" d="{path}"{dash} marker-end="url(#arrow)"/>')

    def curve(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Draw a curved arrow between two points, one below the other."""
        (x, y), (to_x, to_y) = start, end
        middle = (y + to_y) / 2
        self._parts.append(
            f'<path class="line" d="M{x:g} {y:g}C{x:g} {middle:g} {to_x:g} {middle:g} '
            f'{to_x:g} {to_y:g}" marker-end="url(#arrow)"/>'
        )

    def bow(self, start: tuple[float, float], end: tuple[float, float], reach: float) -> None:
        """Draw an arrow that leaves and arrives sideways, bent out by about `reach` pixels."""
        (x, y), (to_x, to_y) = start, end
        out = (min if reach < 0 else max)(x, to_x) + reach
        self._parts.append(
            f'<path class="line" d="M{x:g} {y:g}C{out:g} {y:g} {out:g} {to_y:g} '
            f'{to_x:g} {to_y:g}" marker-end="url(#arrow)"/>'
        )

    def render(self) -> str:
        """Return the picture as the text of an SVG file."""
        width, height = self._size
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" role="img">'
        )
        return "\n".join([head, *self._parts, "</svg>", ""])


def wrap(text: str, width: float, size: int) -> list[str]:
    """Return `text` in lines that are about `width` pixels wide at a font size."""
    room = max(1, int(width / (size * LETTER)))
    lines: list[str] = []
    for word in text.split():
        if lines and len(lines[-1]) + 1 + len(word) <= room:
            lines[-1] += " " + word
        else:
            lines.append(word)
    return lines
