"""A small cluster starts and ends, and a few faults lose nothing; the script runs many.

`TORTURE_FAULTS` sets the number of faults.
"""

import os
import re
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from tests.journeys.process import free_port
from tests.postgres import programs
from tests.tools import find_tool

pytestmark = pytest.mark.torture

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "scripts"
MINUTES_S = 600.0
NODES = "3"

Gap = Callable[[Sequence[float], float, float], float]


@pytest.fixture
def tools() -> None:
    """Skip, or fail, the test on a machine without PostgreSQL or HAProxy."""
    programs()
    find_tool("haproxy")


@pytest.fixture
def longest_gap() -> Gap:
    found: Gap = runpy.run_path(str(SCRIPTS / "cluster_torture" / "outages.py"))["longest_gap"]
    return found


def run(*words: object, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        timeout=MINUTES_S,
        cwd=ROOT,
        env=os.environ | environ,
    )


def processes_in(folder: str) -> list[str]:
    """Return the command lines of processes that name a folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:  # it has ended
            continue
        if folder in line:
            found.append(line)
    return found


@pytest.mark.usefixtures("tools")
def test_the_cluster_runs_until_it_is_interrupted_and_leaves_nothing() -> None:
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "cluster_parts.run", "--nodes", NODES, "--port", str(port)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(SCRIPTS)},
    )
    try:
        assert process.stdout is not None
        told = ""
        while "Ctrl-C ends everything" not in told:
            line = process.stdout.readline()
            assert line, process.communicate()[1]
            told += line
        folder = told.rpartition("Logs and data are in ")[2].split()[0].rstrip(".")
        assert processes_in(folder)
        key = told.partition("KEY=")[2].split()[0]
        # HAProxy takes a node for down that is late with its answer, and answers 503 meanwhile.
        patient = ["--retry", "90", "--retry-delay", "1"]
        curl = [find_tool("curl"), "-sf", *patient, "-H", f"Authorization: Bearer {key}"]
        me = subprocess.run(
            [*curl, f"http://127.0.0.1:{port}/partner/me"], capture_output=True, check=True
        )
        assert b"load-0001" in me.stdout
    finally:
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=MINUTES_S)
    assert process.returncode == 0, said
    assert "cluster: ending" in said
    assert not Path(folder).exists()
    assert processes_in(folder) == []


@pytest.fixture
def place() -> Iterator[Path]:
    """Return a folder for temporary files that other accounts may enter."""
    with tempfile.TemporaryDirectory(prefix="pgs-test-") as made:
        Path(made).chmod(0o755)
        yield Path(made)


@pytest.mark.usefixtures("tools")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_a_cluster_that_is_interrupted_while_it_starts_ends_at_once_and_leaves_nothing(
    place: Path, number: signal.Signals
) -> None:
    process = subprocess.Popen(
        # Without `env`, the cluster would ignore SIGHUP if the tests run under nohup.
        [
            *("env", "--default-signal=HUP"),
            *(sys.executable, "-m", "cluster_parts.run", "--port", str(free_port())),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(SCRIPTS), "TMPDIR": str(place)},
    )
    try:
        assert process.stderr is not None
        said = ""
        while "three partners" not in said:
            line = process.stderr.readline()
            assert line, said
            said += line
    finally:
        process.send_signal(number)
        told, rest = process.communicate(timeout=MINUTES_S)
    assert (process.returncode, told) == (0, "")
    assert rest.splitlines()[-1] == "cluster: ending"
    assert "Traceback" not in rest
    assert "starting node" not in rest
    assert list(place.iterdir()) == []
    assert processes_in(str(place)) == []


def test_a_port_that_another_program_has_is_refused_before_anything_starts(place: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        done = run(
            *("-m", "cluster_parts.run", "--port", other.getsockname()[1]),
            PYTHONPATH=str(SCRIPTS),
            TMPDIR=str(place),
        )
    assert done.returncode == 1
    assert "Address already in use. Choose another one: --port" in done.stderr
    assert "starting" not in done.stderr
    assert list(place.iterdir()) == []


@pytest.mark.usefixtures("tools")
def test_a_few_faults_lose_nothing_double_nothing_and_leave_no_stale_answer() -> None:
    faults = os.environ.get("TORTURE_FAULTS", "3")
    done = run(
        SCRIPTS / "torture_cluster.py",
        *("--faults", faults, "--nodes", NODES, "--partners", 4),
        *("--kinds", "kill,crash_database,restart"),
    )
    print(done.stderr, done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    told = " ".join(done.stdout.split())
    assert f"{faults} faults with seed 1" in told
    assert "Nothing was lost, doubled or stale." in told
    assert "| kill -9 of a node | 1 |" in done.stdout
    for how_many in (
        r"(\d+) prices were set by admins",
        r"(\d+) matches were played",
        r"played with (\d+) moves",
        r"lost (\d+) times",
        r"The nodes said (\d+) times for which shards they answer",
        r"Both books have the same (\d+) charges",
    ):
        found = re.search(how_many, told)
        assert found is not None, how_many
        assert int(found[1]) > 0, how_many


def test_a_fault_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    done = run(SCRIPTS / "torture_cluster.py", "--kinds", "kill,nope", COLUMNS="300")
    assert done.returncode == 2
    assert "there is no nope here; there are kill, restart, stop, crash_database" in done.stderr
    assert "drain" in done.stderr
    alone = run(SCRIPTS / "torture_cluster.py", "--nodes", "1", "--kinds", "drain", COLUMNS="300")
    assert "there is no drain here; there are kill," in alone.stderr


def test_without_haproxy_the_script_says_what_to_install(tmp_path: Path) -> None:
    for name in ("setpriv", "ip", "unshare", "nsenter"):
        (tmp_path / name).symlink_to(find_tool(name))
    made = (
        "import sys; sys.path.insert(0, 'scripts'); from cluster_parts import machines; "
        "machines.SYSTEM_FOLDERS = ''; from cluster_parts.run import main; main(8080, 3, True)"
    )
    done = run("-c", made, PATH=str(tmp_path))
    assert done.returncode == 1
    assert "scripts/cluster: there is no haproxy: install it with `apt-get install" in done.stderr


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([], 10.0),  # no answer at all in a window of ten seconds
        ([1.0, 2.0, 3.0], 17.0),  # the last answer came before the window
        ([9.0, 9.5, 10.5, 12.0, 19.0, 21.0], 7.0),
        ([9.0, 25.0], 16.0),  # the gap is longer than the window
        ([5.0, 9.9, 10.0, 10.1, 19.9, 20.1], 9.8),
        ([30.0, 31.0], 20.0),  # nothing came before
    ],
)
def test_the_longest_gap_is_between_two_answers_around_the_window(
    longest_gap: Gap, answers: list[float], expected: float
) -> None:
    assert longest_gap(answers, 10.0, 20.0) == pytest.approx(expected)
