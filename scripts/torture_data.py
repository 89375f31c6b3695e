#!/usr/bin/env python3
"""Damages a service's files, disk and clock, and then looks for what is lost.

    scripts/torture_data.py              every recipe: about three minutes
    scripts/torture_data.py kill swap    these recipes

Each recipe has a service in a process of its own, with a backend that plays and remembers every
answer. It must end in a refusal that says what to do, or with nothing lost. The exit code is 1 if
one does not. The table on standard output is in Markdown.
"""

import in_venv  # the first import, because the packages below are installed in .venv

# isort: split

import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer
from data_torture.recipes import NEED_FAULTS, RECIPES
from data_torture.service import Scene, Wrong, compile_faults


def main(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[RECIPE]...", help=", ".join(RECIPES))
    ] = None,
) -> None:
    """Run recipes one after the other."""
    wanted = names or list(RECIPES)
    if unknown := sorted(set(wanted) - set(RECIPES)):
        raise typer.BadParameter(f"there is no {', '.join(unknown)}", param_hint="RECIPE")
    rows, failed = [], 0
    with tempfile.TemporaryDirectory(prefix="pgs-torture-") as place:
        library = compile_faults(Path(place))
        for number, name in enumerate(wanted, start=1):
            print(f"{number}/{len(wanted)} {name} …", file=sys.stderr, flush=True)
            if name in NEED_FAULTS and library is None:
                end = "NOT TRIED: it needs Linux and gcc"
            else:
                end, held = _run(name, Path(place) / name, library)
                failed += not held
            print(f"    {end}", file=sys.stderr, flush=True)
            rows.append(f"| {name} | {(RECIPES[name].__doc__ or '').rstrip('.')} | {end} |")
    print("| Recipe | What happens | How it ends |\n| --- | --- | --- |")
    print("\n".join(rows))
    raise typer.Exit(1 if failed else 0)


def _run(name: str, place: Path, library: Path | None) -> tuple[str, bool]:
    """Return how a recipe ended, and whether it held."""
    place.mkdir()
    scene = Scene(place, library if name in NEED_FAULTS else None)
    try:
        scene.must_start()
        scene.play()
        return RECIPES[name](scene), True
    except (Wrong, OSError) as error:
        return f"FAILED: {' '.join(str(error).split())[:700]}", False
    finally:
        scene.close()


if __name__ == "__main__":
    typer.run(main)
