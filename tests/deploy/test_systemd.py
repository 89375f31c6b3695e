"""The units of `deploy/systemd`, checked by systemd, and the backup that its timer makes."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pgs.config import load_config
from tests.journeys.process import Process
from tests.tools import find_tool

SYSTEMD = Path(__file__).parents[2] / "deploy" / "systemd"
SCRIPT = SYSTEMD / "pgs-backup"
UNITS = ("pgs.service", "pgs-backup.service", "pgs-backup.timer", "pgs-owners.service")

_EXPOSURE_MAX = 2.0
"""What `systemd-analyze security` may find, from 0 to 10. A unit without any protection has 9.6."""


def _installed(folder: Path) -> list[str]:
    """Copy the units into a folder; return their paths. Their programs are ones that exist."""
    paths = []
    for name in UNITS:
        text = (SYSTEMD / name).read_text(encoding="utf-8")
        path = folder / name
        path.write_text(re.sub(r"/opt/pgs/bin/pgs[\w-]*", "/bin/true", text))
        paths.append(str(path))
    return paths


def _analyze(*arguments: str) -> str:
    done = subprocess.run(
        [find_tool("systemd-analyze"), *arguments], capture_output=True, text=True, check=False
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    return said


def test_systemd_verifies_the_units_without_a_warning(tmp_path: Path) -> None:
    said = _analyze("verify", "--man=no", *_installed(tmp_path)).splitlines()
    assert [line for line in said if "pgs" in line] == []  # it also reads units of the machine


def test_the_units_leave_little_of_the_machine_open(tmp_path: Path) -> None:
    for path in _installed(tmp_path)[:2]:
        said = _analyze("security", "--offline=true", path)
        found = re.search(r"exposure level for [\w.-]+: ([0-9.]+)", said)
        assert found, said
        assert float(found[1]) <= _EXPOSURE_MAX, said


def _run_script(
    folder: Path, program: str, *, data: Path = Path("/somewhere")
) -> subprocess.CompletedProcess[str]:
    """Run the backup script with a program in place of `pgs`."""
    fake = folder / "pgs"
    fake.write_text(f"#!/bin/sh\n{program}\n")
    fake.chmod(0o700)
    environment = os.environ | {
        "PGS": str(fake),
        "BACKUPS": str(folder / "backups"),
        "KEEP": "2",
    }
    return subprocess.run(
        [str(SCRIPT), "--data", str(data)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def _made(folder: Path, *names: str) -> None:
    for name in names:
        (folder / "backups" / name).mkdir(parents=True)
        (folder / "backups" / name / "pgs.db").touch()


OLD = ("2024-01-01T00-00-00Z", "2024-01-02T00-00-00Z", "2024-01-03T00-00-00Z")


def test_a_backup_gets_a_new_folder_and_the_oldest_complete_ones_go(tmp_path: Path) -> None:
    _made(tmp_path, *OLD, "by-hand")
    broken = tmp_path / "backups" / "2023-01-01T00-00-00Z"
    broken.mkdir()
    program = f'echo "$@" >{tmp_path}/called; mkdir "$3"; touch "$3/pgs.db"'
    assert _run_script(tmp_path, program).returncode == 0
    called = (tmp_path / "called").read_text().split()
    assert (called[:2], called[3:]) == (["db", "backup"], ["--data", "/somewhere"])
    newest = Path(called[2]).name
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ", newest)
    left = {path.name for path in (tmp_path / "backups").iterdir()}
    assert left == {OLD[2], newest, "by-hand", broken.name}


def test_nothing_is_removed_when_the_backup_fails(tmp_path: Path) -> None:
    _made(tmp_path, *OLD)
    assert _run_script(tmp_path, "exit 3").returncode == 3
    assert {path.name for path in (tmp_path / "backups").iterdir()} == set(OLD)


@pytest.mark.slow
def test_the_script_backs_up_a_running_service(tmp_path: Path) -> None:
    (tmp_path / "backups").mkdir()
    with Process(tmp_path / "data") as process:
        done = _run_script(tmp_path, f'exec "{sys.executable}" -m pgs "$@"', data=process.folder)
        assert done.returncode == 0, done.stderr
    [backup] = (tmp_path / "backups").iterdir()
    assert {"pgs.db", "keys"} <= {path.name for path in backup.iterdir()}


def test_the_sample_of_the_settings_is_accepted_and_agrees_with_the_unit() -> None:
    config = load_config(SYSTEMD.parent / "pgs.toml", environ={})
    assert config.base_url == "https://games.example"
    unit = (SYSTEMD / "pgs.service").read_text(encoding="utf-8")
    assert f"--data {config.data_dir}\n" in unit
    assert f"StateDirectory={config.data_dir.name}\n" in unit
