"""The benchmark of several nodes together: control groups, the case on a small scale, its text."""

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conventions.tree import ROOT


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    return importlib.import_module


@pytest.fixture
def groups(scripts: Any) -> Any:
    return scripts("bench_cases.core_shares")


def mounted(folder: Path, line: str) -> Path:
    """Return a stand-in for /proc/self/mounts."""
    file = folder / "mounts"
    file.write_text(f"proc /proc proc rw 0 0\n{line}\n")
    return file


def version_2(folder: Path, controllers: str) -> Path:
    """Return a stand-in for the root of a tree of control groups of version 2."""
    root = folder / "tree"
    root.mkdir()
    (root / "cgroup.controllers").write_text(f"{controllers}\n")
    (root / "cgroup.subtree_control").write_text("")
    return root


def test_a_group_of_version_1_has_the_quota_of_its_share(groups: Any, tmp_path: Path) -> None:
    root = tmp_path / "cpu"
    root.mkdir()
    limits = groups.shares(mounted(tmp_path, f"cgroup {root} cgroup rw,relatime,cpu 0 0"))
    group = limits.group("n1", 0.13)
    [made] = root.iterdir()
    period = int((made / "cpu.cfs_period_us").read_text())
    assert int((made / "cpu.cfs_quota_us").read_text()) == round(0.13 * period)
    group.add(77)
    assert (made / "cgroup.procs").read_text() == "77\n"
    (made / "cpu.stat").write_text("nr_periods 40\nnr_throttled 31\nthrottled_time 5\n")
    assert group.waits() == (40, 31)


def test_a_group_of_version_2_has_the_quota_of_its_share(groups: Any, tmp_path: Path) -> None:
    root = version_2(tmp_path, "cpuset cpu io")
    limits = groups.shares(mounted(tmp_path, f"cgroup2 {root} cgroup2 rw 0 0"), tmp_path / "mounts")
    assert (root / "cgroup.subtree_control").read_text() == "+cpu\n"
    limits.group("n1", 0.5)
    [made] = [path for path in root.iterdir() if path.is_dir()]
    quota, period = (made / "cpu.max").read_text().split()
    assert int(quota) * 2 == int(period)


def test_a_process_below_a_root_without_the_controller_moves_aside_in_its_own_group(
    groups: Any, tmp_path: Path
) -> None:
    root = version_2(tmp_path, "pids")
    own = root / "user" / "bench.scope"
    own.mkdir(parents=True)
    (own / "cgroup.controllers").write_text("cpu pids\n")
    (own / "cgroup.procs").write_text(f"{os.getpid()}\n")
    told = tmp_path / "own"
    told.write_text("1:name=systemd:/\n0::/user/bench.scope\n")
    limits = groups.shares(mounted(tmp_path, f"cgroup2 {root} cgroup2 rw 0 0"), told)
    assert (limits.version, limits.parent) == (2, own)
    assert (own / "pgs-bench-caller" / "cgroup.procs").read_text() == f"{os.getpid()}\n"


@pytest.mark.parametrize("version", [1, 2])
def test_the_next_run_removes_the_groups_of_killed_runs_and_no_others(
    groups: Any, tmp_path: Path, version: int
) -> None:
    root = version_2(tmp_path, "cpu")
    with subprocess.Popen(["sleep", "60"]) as killed, subprocess.Popen(["sleep", "60"]) as running:
        try:
            killed.kill()
            killed.wait()
            gone, alive = killed.pid, running.pid
            names = ["n1", "n2", "database-of-a-run"]
            left = [root / f"pgs-bench-{gone}-{name}" for name in names]
            # In a stand-in, a file keeps a folder, as a process keeps a control group.
            busy = root / f"pgs-bench-{gone}-n3" / "n3"
            kept = [root / f"pgs-bench-{alive}-n1", root / "pgs-bench-caller", root / "user"]
            for folder in (*left, busy, *kept):
                folder.mkdir(parents=True)
            kind = "cgroup" if version == 1 else "cgroup2"
            mounts = mounted(tmp_path, f"{kind} {root} {kind} rw,cpu 0 0")
            groups.shares(mounts, tmp_path / "mounts")
            found = {path for path in root.iterdir() if path.is_dir()}
            assert found == {*kept, busy.parent}
        finally:
            running.kill()


@pytest.mark.parametrize("line", ["", "cgroup /sys/fs/cgroup/pids cgroup rw,pids 0 0"])
def test_without_control_groups_for_processors_the_message_says_what_to_do(
    groups: Any, tmp_path: Path, line: str
) -> None:
    with pytest.raises(groups.Missing, match=r"Run it as root.*Delegate=yes"):
        groups.shares(mounted(tmp_path, line), tmp_path / "mounts")


def seen(nodes: Any, count: int, seats: float, share: float = 1.0, machine: float = 0.7) -> Any:
    return nodes.Seen(
        count, [seats] * 3, [share] * 3, [0.9] * 3, [0.3] * 3, [0.05] * 3, [machine] * 3
    )


def section(scripts: Any, folder: Path, **of: Any) -> str:
    nodes, report = scripts("bench_cases.nodes"), scripts("bench_cases.nodes_report")
    cases = {
        "1 node": seen(nodes, 1, 500.0),
        "2 nodes, calls at the owner": seen(nodes, 2, of.pop("two", 950.0), **of),
        "2 nodes, calls at any node": seen(nodes, 2, 350.0),
    }
    text, figures = report.nodes_section(cases, 240, 3.0, folder / "pictures")
    assert figures["2 nodes, calls at any node"]["timesOne"] == 0.7
    assert "<svg" in (folder / "pictures" / "nodes.svg").read_text()
    return " ".join(text.split())


def test_the_text_says_whether_two_nodes_reach_the_goal(scripts: Any, tmp_path: Path) -> None:
    reached = section(scripts, tmp_path)
    assert "**1.90** times" in reached
    assert "The goal is 1.8: it is reached." in reached
    assert "neither the database nor the caller limited the seats" in reached
    assert "The goal is 1.8: it is missed." in section(scripts, tmp_path, two=800.0)


def test_the_text_says_what_else_limited_the_seats(scripts: Any, tmp_path: Path) -> None:
    spared = section(scripts, tmp_path, share=0.6)
    assert "something else limited the seats there: 2 nodes, calls at the owner." in spared
    assert "neither the database" not in spared
    full = section(scripts, tmp_path, machine=0.97)
    assert "with less other work, or on more cores: 2 nodes, calls at the owner." in full


@pytest.mark.slow
@pytest.mark.postgres
def test_the_case_writes_its_section_and_leaves_no_group_behind(tmp_path: Path) -> None:
    limits = Path("/sys/fs/cgroup")
    before = set(limits.rglob("pgs-bench-*"))  # of other runs
    document = tmp_path / "benchmarks.md"
    document.write_text("# Benchmarks\n\nBefore.\n")
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/bench.py", "nodes", "--quick", "--out", document],
        capture_output=True,
        text=True,
        check=False,
        timeout=900,  # three times a wait of 180 s, and a minute and a half of measuring
        env={"PATH": os.environ["PATH"], "COLUMNS": "120"},
    )
    if "IS LEFT OUT" in done.stderr:  # this machine has no control groups, or no PostgreSQL
        assert done.returncode == 1
        assert document.read_text() == "# Benchmarks\n\nBefore.\n"
        return
    assert done.returncode == 0, done.stderr
    text = document.read_text()
    assert done.stdout.strip() in text
    assert re.search(r"^\| 3 nodes, calls at the owner \|( [0-9.,%]+ \|){6}$", text, re.MULTILINE)
    assert (tmp_path / "benchmarks" / "nodes.svg").exists()
    assert set(limits.rglob("pgs-bench-*")) <= before
