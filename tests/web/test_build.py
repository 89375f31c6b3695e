"""What the build has made, as browsers get it."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from pgs.http.embed.assets import HELPER, read_assets
from pgs.http.embed.policy import DATA_MARK, NONCE_MARK
from tests.conventions.tree import ROOT, SOURCE, files

BUILT = SOURCE / "web" / "frame"
MOST_BYTES = 60 * 1000


def _built() -> list[Path]:
    found = sorted(BUILT.glob("*"))
    assert found, "nothing was built: run scripts/setup"
    return found


def test_the_whole_frame_is_under_60_kb_compressed() -> None:
    sizes = {path.name: len(gzip.compress(path.read_bytes())) for path in _built()}
    assert sum(sizes.values()) < MOST_BYTES, sizes


def test_what_the_build_made_is_what_is_served() -> None:
    assets = read_assets()
    assert assets.template is not None
    assert {path.name for path in _built()} == {*assets.files, "frame.html"}
    assert HELPER in assets.files


def test_no_built_file_names_another_place() -> None:
    for path in _built():
        # Names of XML vocabularies are no addresses: nothing asks for them.
        named = {
            where
            for where in re.findall(r"(?:https?|wss?)://[\w.-]+", path.read_text())
            if where != "http://www.w3.org"
        }
        assert named == set(), path.name


def test_no_built_script_makes_code_of_text() -> None:
    for path in _built():
        assert not re.search(
            r"\beval\(|new Function\(|document\.write|localStorage|sessionStorage|document\.cookie",
            path.read_text(),
        ), path.name


def test_the_template_has_its_marks_and_no_script_or_style_in_it() -> None:
    (template,) = (path.read_text() for path in _built() if path.name == "frame.html")
    assert template.count(DATA_MARK) == 1
    assert f'content="{DATA_MARK}"' in template
    loading = re.findall(r"<(?:script|link rel=\"stylesheet\")[^>]*>", template)
    assert len(loading) == 2
    assert all(f'nonce="{NONCE_MARK}"' in tag for tag in loading)
    assert re.findall(r"<script[^>]*>([^<]*)</script>", template) == [""]
    assert "<style" not in template
    assert not re.search(r"\s(?:style|on\w+)=", template)


def _lock() -> dict[str, Any]:
    lock: dict[str, Any] = json.loads((ROOT / "web" / "package-lock.json").read_text())
    return lock


def test_the_lock_names_no_place_to_download_from() -> None:
    packages = {name: entry for name, entry in _lock()["packages"].items() if name}
    assert packages
    assert [
        name for name, entry in packages.items() if "resolved" in entry or "integrity" not in entry
    ] == []


def test_nothing_but_preact_reaches_the_browser() -> None:
    manifest = json.loads((ROOT / "web" / "package.json").read_text())
    assert set(manifest["dependencies"]) == {"preact"}


@pytest.mark.parametrize("suffix", [".ts", ".tsx", ".css", ".js"])
def test_no_source_file_of_the_frame_is_over_400_lines(suffix: str) -> None:
    lengths = {
        path.name: len(path.read_text().splitlines()) for path in files(ROOT / "web", suffix)
    }
    assert {name: length for name, length in lengths.items() if length > 400} == {}
