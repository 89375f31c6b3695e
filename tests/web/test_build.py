"""What `scripts/web` builds, and the limits for the sources of the frame."""

import gzip
import json
import re
from pathlib import Path
from typing import Any, Final

import pytest

from pgs.http.embed.assets import HELPER, read_assets
from pgs.http.embed.languages import LANGUAGES
from pgs.http.embed.policy import DATA_MARK, NONCE_MARK
from pgs.http.portal import read_portal
from tests.conventions.tree import ROOT, SOURCE, files

BUILT = SOURCE / "web" / "frame"

FRAME_MAX_BYTES: Final = 30 * 1000
"""Bytes of the document, its script, which contains the styles and one language, a game, and the
sounds, as the service sends them: the document compressed with gzip, the rest with Brotli."""

PORTAL = SOURCE / "web" / "portal"

PORTAL_MAX_BYTES: Final = 120 * 1000
"""Bytes of everything that a browser can load for the portal, the preview of a theme with it, as
the service sends it: the scripts and styles compressed with Brotli. A page loads a part of them."""

LINES_MAX: Final = 350
COLUMNS_MAX: Final = 100
"""Lines and columns of a source file. Functions: see `web/tests/function-length.test.ts`."""


def _built() -> list[Path]:
    found = sorted(BUILT.glob("*"))
    assert found, "nothing was built: run scripts/setup"
    return found


def _texts() -> list[Path]:
    return [path for path in _built() if path.suffix != ".br"]


def _scripts_of(language: str) -> tuple[Path, Path, list[Path]]:
    """Return a language's document, its script, and the games that this script loads."""
    template = BUILT / f"frame.{language}.html"
    needed = re.findall(r'(?:src|href)="/embed/([^"]+)"', template.read_text())
    assert len(needed) == 1, "the first view needs one request after the document"
    assert needed[0].endswith(".js")
    games = [
        path
        for path in _texts()
        if path.suffix == ".js" and path.name != needed[0] and needed[0] in path.read_text()
    ]
    assert len(games) == 2, "chess, and the games with discs and signs"
    return template, BUILT / needed[0], games


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_frame_is_under_30_kb_compressed_with_any_game_and_its_sounds(language: str) -> None:
    template, script, games = _scripts_of(language)
    files = read_assets().files
    (sounds,) = (path for path in _texts() if "createOscillator" in path.read_text())
    for game in games:
        sizes = [len(files[path.name].compressed["br"]) for path in (script, game, sounds)]
        sizes.append(len(gzip.compress(template.read_bytes())))
        assert sum(sizes) < FRAME_MAX_BYTES, (game.name, sizes)


_THINKING: Final = {
    "en": "is thinking",
    "es": "está pensando",
    "pt": "está pensando",
    "fr": "réfléchit",
    "de": "überlegt",
    "ar": "يفكر",
}
"""What each language says of an opponent who is to move."""


def test_a_script_contains_its_own_language_and_no_other() -> None:
    for language in LANGUAGES:
        template, script, games = _scripts_of(language)
        texts = [path.read_text() for path in (script, *games)]
        found = [one for one, text in _THINKING.items() if any(text in part for part in texts)]
        assert set(found) == {
            one for one, text in _THINKING.items() if text == _THINKING[language]
        }, language
        direction = "rtl" if language == "ar" else "ltr"
        assert f'<html lang="{language}" dir="{direction}">' in template.read_text()


def test_the_service_serves_every_built_file() -> None:
    assets = read_assets()
    assert set(assets.templates) == set(LANGUAGES)
    documents = {f"frame.{language}.html" for language in LANGUAGES}
    assert {path.name for path in _texts()} == {*assets.files, *documents}
    assert HELPER in assets.files


def test_no_built_file_contains_an_external_address() -> None:
    for path in _texts():
        # The names of XML namespaces look like addresses, but nothing is loaded from them.
        found = {
            address
            for address in re.findall(r"(?:https?|wss?)://[\w.-]+", path.read_text())
            if address != "http://www.w3.org"
        }
        assert found == set(), path.name


_KEPT: Final = re.compile(r"localStorage\.pgsSound(?:===`1`|=\w+\?`1`:`0`)")
"""The player's choice of sound, which is read and written. A frame keeps nothing else."""


def test_no_built_file_evaluates_text_or_stores_data_beside_the_choice_of_sound() -> None:
    for path in _texts():
        assert not re.search(
            r"\beval\(|new Function\(|document\.write|localStorage|sessionStorage|document\.cookie",
            _KEPT.sub("", path.read_text()),
        ), path.name


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_template_has_its_placeholders_and_no_inline_script_or_style(language: str) -> None:
    template = (BUILT / f"frame.{language}.html").read_text()
    assert template.count(DATA_MARK) == 1
    assert f'content="{DATA_MARK}"' in template
    loading = re.findall(r"<(?:script|link rel=\"stylesheet\")[^>]*>", template)
    assert len(loading) == 1
    assert all(f'nonce="{NONCE_MARK}"' in tag for tag in loading)
    assert re.findall(r"<script[^>]*>([^<]*)</script>", template) == [""]
    assert "<style" not in template
    assert not re.search(r"\s(?:style|on\w+)=", template)


def _lock() -> dict[str, Any]:
    lock: dict[str, Any] = json.loads((ROOT / "web" / "package-lock.json").read_text())
    return lock


def test_the_lock_has_a_hash_for_every_package_and_no_download_address() -> None:
    packages = {name: entry for name, entry in _lock()["packages"].items() if name}
    assert packages
    assert [
        name for name, entry in packages.items() if "resolved" in entry or "integrity" not in entry
    ] == []


def test_preact_is_the_only_dependency_in_the_browser() -> None:
    manifest = json.loads((ROOT / "web" / "package.json").read_text())
    assert set(manifest["dependencies"]) == {"preact"}


@pytest.mark.parametrize("suffix", [".ts", ".tsx", ".css", ".js", ".html"])
def test_no_source_file_of_the_frame_is_too_long_or_too_wide(suffix: str) -> None:
    sources = {path: path.read_text().splitlines() for path in files(ROOT / "web", suffix)}
    assert sources
    assert [path.name for path, lines in sources.items() if len(lines) > LINES_MAX] == []
    assert [
        f"{path.name}:{number}"
        for path, lines in sources.items()
        for number, line in enumerate(lines, start=1)
        if len(line) > COLUMNS_MAX
    ] == []


def test_everything_that_the_portal_can_load_is_under_120_kb_compressed() -> None:
    portal = read_portal("https://id.example", "portal", "portal", PORTAL)
    assert portal is not None
    found = {path.name for path in PORTAL.rglob("*") if path.suffix not in ("", ".br")}
    assert found == {"portal.html", "preview.html", *portal.files}
    assert any(name.startswith("preview-") for name in portal.files)
    sizes = {name: len(file.compressed["br"]) for name, file in portal.files.items()}
    size = sum(sizes.values()) + len(portal.document) + len(portal.preview)
    assert len(portal.files) < size <= PORTAL_MAX_BYTES, f"the portal has {size} bytes"


def test_the_documents_of_the_portal_have_no_inline_script_and_no_address_elsewhere() -> None:
    for name in ("portal.html", "preview.html"):
        text = (PORTAL / name).read_text("utf-8")
        scripts = re.findall(r"<script([^>]*)>(.*?)</script>", text, re.DOTALL)
        assert scripts, name
        for attributes, content in scripts:
            assert 'src="/portal/assets/' in attributes, name
            assert content.strip() == "", name
        assert not re.search(r"<style|\son\w+=|https?://|style=", text), name
