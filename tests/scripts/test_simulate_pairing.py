"""scripts/simulate_pairing.py works on a small scale, and docs/pairing.md shows its results."""

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

from tests.conventions.tree import ROOT
from tests.patience import PATIENCE_S


def simulate(out: Path, *arguments: str) -> str:
    done = subprocess.run(
        [
            sys.executable,
            ROOT / "scripts" / "simulate_pairing.py",
            "--quick",
            "--out",
            out,
            *arguments,
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_same_seed_draws_the_same_picture_and_live_pairing_brings_players_closer(
    tmp_path: Path,
) -> None:
    first, again, other = tmp_path / "a.svg", tmp_path / "b.svg", tmp_path / "c.svg"
    figures = simulate(first)
    assert (figures, first.read_text()) == (simulate(again), again.read_text())
    assert figures != simulate(other, "--seed", "2")
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in figures.splitlines()[2:]
    ]
    assert [(row[0], row[1]) for row in rows] == [
        (n, rule) for n in ("20", "100") for rule in ("live.v1", "order of arrival")
    ]
    for live, arrival in (rows[:2], rows[2:]):
        assert float(live[6]) < float(arrival[6]) / 2
    root = ElementTree.parse(first).getroot()  # noqa: S314 - our script drew the picture
    titles = [text.text for text in root.iter() if text.tag.endswith("text")]
    assert {"20 players", "100 players"} <= set(titles)


def test_small_pools_wait_less_than_before_and_no_more_seats_expire(tmp_path: Path) -> None:
    figures = simulate(tmp_path / "unused.svg", "--pools")
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in figures.splitlines()[2:]
    ]
    assert [(row[0], row[1]) for row in rows] == [
        (size, rule) for size in ("2", "4", "20", "100") for rule in ("before", "after")
    ]
    for before, after in zip(rows[::2], rows[1::2], strict=True):
        assert float(after[3]) < float(before[3])
        assert int(after[6]) <= int(before[6])


def test_the_document_shows_the_picture_and_a_row_for_every_crowd() -> None:
    text = (ROOT / "docs" / "pairing.md").read_text()
    assert "(pairing.svg)" in text
    assert re.findall(r"^\| ([0-9,]+) \| live\.v1 \|", text, re.MULTILINE) == [
        "20",
        "100",
        "500",
        "2,000",
        "5,000",
    ]
    file = ROOT / "docs" / "pairing.svg"
    picture = ElementTree.parse(file).getroot()  # noqa: S314 - our script drew the picture
    assert sum(element.tag.endswith("path") for element in picture.iter()) == 10
