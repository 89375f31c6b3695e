"""Bar charts: one measure, a bar for each name, the value at its end."""

from collections.abc import Mapping

from drawings.svg import LETTER, Drawing

WIDTH, ROW, TOP, SIZE = 760, 30, 46, 13
VALUE_WIDTH = 110  # room for a value behind the longest bar


def bar_chart(
    title: str, description: str, values: Mapping[str, float], unit: str, marked: str = ""
) -> str:
    """Return a chart as the text of an SVG file. The bar named `marked` stands out."""
    names = max(len(name) for name in values) * SIZE * LETTER + 24
    room, longest = WIDTH - names - VALUE_WIDTH, max(values.values())
    drawing = Drawing(WIDTH, TOP + ROW * len(values) + 10, title, description)
    drawing.text(12, 26, title, "strong", 15)
    for row, (name, value) in enumerate(values.items()):
        y = TOP + ROW * row
        drawing.text(names - 10, y + 18, name, anchor="end")
        width = max(2.0, room * value / longest)
        drawing.box(names, y + 4, width, ROW - 10, "mark" if name == marked else "box")
        drawing.text(names + width + 8, y + 18, f"{value:,.0f} {unit}", "small")
    return drawing.render()
