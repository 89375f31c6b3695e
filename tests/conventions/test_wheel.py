"""The wheel and the sdist hold the files of the checkout."""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from pgs.http.embed.languages import LANGUAGES
from pgs.http.guide.sources import NAMES, SHARED
from tests.conventions.tree import ROOT, SOURCE, files

CLIENT = ROOT / "clients" / "python" / "src" / "pgs_client"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel and the sdist of this checkout; return their folder."""
    folder = tmp_path_factory.mktemp("built")
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-t", "sdist", "-d", folder],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_the_wheel_ships_every_file_of_the_package(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        shipped = set(archive.namelist())
    assert {str(path.relative_to(SOURCE.parent)) for path in files(SOURCE)} - shipped == set()
    assert {str(path.relative_to(CLIENT.parent)) for path in files(CLIENT)} - shipped == set()


def test_the_wheel_ships_every_page_of_the_guide(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        shipped = set(archive.namelist())
    made = {"errors", "reference"}
    wanted = {f"pgs/http/published/{name}.md" for name, _ in NAMES if name not in made}
    assert wanted | {"pgs/http/published/tokens.css"} <= shipped


def test_the_sdist_holds_the_package_and_not_the_sources_of_the_frame(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {str(path.relative_to(ROOT)) for path in files(SOURCE)} - names == set()
    made_by_hatchling = {"PKG-INFO", "pyproject.toml", ".gitignore"}
    packages = ("src/pgs/", "clients/python/src/pgs_client/")
    others = {name for name in names if not name.startswith(packages)}
    assert others - made_by_hatchling == {
        "LICENSE",
        "README.md",
        "CHANGELOG.md",
        "web/src/design/tokens.css",
        *(f"docs/{name}.md" for name in SHARED),
    }


_BUILT = [
    *(f"frame/frame.{language}.html" for language in LANGUAGES),
    "frame/pgs-embed.js",
    "frame/pgs-frame-Ab12Cd34.js",
    "demo/site.js",
    "demo/site.css",
    "portal/portal.html",
    "portal/assets/portal-Ab12Cd34.js",
    "portal/assets/portal-Ef56Gh78.css",
]


@pytest.mark.parametrize("missing", _BUILT)
def test_a_wheel_that_lacks_a_file_of_a_page_is_refused(missing: str, tmp_path: Path) -> None:
    wheel = tmp_path / "pgs-0.1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("pgs/__init__.py", "")
        for name in _BUILT:
            if name != missing:
                archive.writestr(f"pgs/web/{name}", "")
    done = subprocess.run(
        [ROOT / "scripts" / "check_wheel", wheel],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    kept_part = missing.split("Ab12Cd34")[0].split("Ef56Gh78")[0]
    assert f"holds no pgs/web/{kept_part}" in done.stderr
    assert "Run scripts/web" in done.stderr
