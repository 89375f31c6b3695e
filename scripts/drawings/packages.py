"""The picture of the packages and of the imports between them, read from the code."""

import ast
from collections.abc import Iterable, Mapping
from pathlib import Path

from drawings.svg import Drawing, wrap

BOX, GAP, HEIGHT, ROW = 236, 26, 52, 96
MARGIN, SIDE = 20, 70  # SIDE: room for the arrows that pass by a row

Graph = dict[str, set[str]]


def package_graph(source: Path, prefix: str, names: Iterable[str]) -> Graph:
    """Return which of the named modules and packages below `prefix` import which others.

    A name is the path below `prefix` with dots. An import belongs to the longest name that it
    starts with.
    """
    known = set(names)
    graph: Graph = {name: set() for name in names}
    for path in sorted(source.rglob("*.py")):
        module = ".".join(path.relative_to(source).with_suffix("").parts)
        owner = _owner(module, known)
        if owner is None:
            continue
        for imported in _imports(path):
            if imported.startswith(prefix + "."):
                target = _owner(imported.removeprefix(prefix + "."), known)
                if target is not None and target != owner:
                    graph[owner].add(target)
    return graph


def _owner(module: str, known: set[str]) -> str | None:
    parts = module.split(".")
    for length in range(len(parts), 0, -1):
        name = ".".join(parts[:length])
        if name in known:
            return name
    return None


def _imports(path: Path) -> Iterable[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                yield f"{node.module}.{alias.name}"
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name


def levels(graph: Graph) -> dict[str, int]:
    """Return each name's level; at level 0 it imports no other. Raises ValueError for a circle."""
    found: dict[str, int] = {}

    def level(name: str, above: tuple[str, ...]) -> int:
        if name in above:
            raise ValueError(f"a circle of imports: {' -> '.join((*above, name))}")
        if name not in found:
            found[name] = 1 + max(
                (level(other, (*above, name)) for other in graph[name]), default=-1
            )
        return found[name]

    for name in graph:
        level(name, ())
    return found


def reduced(graph: Graph) -> Graph:
    """Return the graph without the arrows that a path over other names already implies."""

    def reach(name: str) -> set[str]:
        return {name}.union(*(reach(other) for other in graph[name]))

    return {
        name: {
            other
            for other in targets
            if not any(other in reach(between) for between in targets if between != other)
        }
        for name, targets in graph.items()
    }


def draw_packages(graph: Graph, about: Mapping[str, str], title: str) -> Drawing:
    """Return the picture, with packages that import nothing at the bottom.

    An arrow points to what is imported; arrows that `reduced` removes are left out. `about` has a
    few words for each name, shown in its box.
    """
    by_level: dict[int, list[str]] = {}
    for name, level in levels(graph).items():
        by_level.setdefault(level, []).append(name)
    order = {name: index for index, name in enumerate(about)}
    rows = [
        sorted(by_level[level], key=order.__getitem__) for level in sorted(by_level, reverse=True)
    ]
    width = 2 * SIDE + max(len(row) for row in rows) * (BOX + GAP) - GAP
    height = 2 * MARGIN + len(rows) * ROW - (ROW - HEIGHT)
    drawing = Drawing(width, height, title, "An arrow points to what is imported.")
    place: dict[str, tuple[float, float]] = {}
    for index, row in enumerate(rows):
        left = (width - len(row) * (BOX + GAP) + GAP) / 2
        for column, name in enumerate(row):
            place[name] = (left + column * (BOX + GAP), MARGIN + index * ROW)
    for name, targets in reduced(graph).items():
        for target in sorted(targets):
            (x, y), (to_x, to_y) = place[name], place[target]
            if round((to_y - y) / ROW) == 1 or abs(to_x - x) > BOX / 2 + GAP:
                drawing.curve((x + BOX / 2, y + HEIGHT), (to_x + BOX / 2, to_y - 2))
            elif to_x + BOX / 2 <= width / 2:
                drawing.bow((x, y + HEIGHT / 2), (to_x - 2, to_y + HEIGHT / 2), -SIDE)
            else:
                drawing.bow((x + BOX, y + HEIGHT / 2), (to_x + BOX + 2, to_y + HEIGHT / 2), SIDE)
    for name, (x, y) in place.items():
        drawing.box(x, y, BOX, HEIGHT)
        drawing.text(x + 10, y + 21, name, "strong")
        for number, line in enumerate(wrap(about[name], BOX - 16, 11)[:1]):
            drawing.text(x + 10, y + 38 + 14 * number, line, "small", 11)
    return drawing
