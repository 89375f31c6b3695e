"""The service keeps working when the stream that it logs to fails or stalls."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpcore
import pytest

from tests.conventions.tree import ROOT
from tests.full import full_disk
from tests.journeys.process import Process
from tests.patience import PATIENCE_S

CALLS = 700  # each logs 200 bytes, together twice what a pipe holds


@contextmanager
def stream(kind: str) -> Iterator[int]:
    """Yield a log stream: a pipe that nobody reads, one whose reader has gone, or a full disk."""
    if kind == "full":
        with full_disk() as full:
            yield full
        return
    reading, writing = os.pipe()
    if kind == "gone":
        os.close(reading)
    try:
        yield writing
    finally:
        os.close(writing)
        if kind != "gone":
            os.close(reading)


def lost_lines(process: Process) -> float:
    metrics = httpcore.request(
        "GET", f"http://127.0.0.1:{process.internal_port}/internal/metrics"
    ).content.decode()
    return float(
        next(
            line.split()[1]
            for line in metrics.splitlines()
            if line.startswith("pgs_log_lines_lost_total ")
        )
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["unread", "gone", "full"])
def test_calls_commands_and_a_stop_are_served_while_the_log_cannot_be_written(
    tmp_path: Path, kind: str
) -> None:
    with stream(kind) as log:
        process = Process(tmp_path / "data")
        process.stderr = log
        with process:
            with httpcore.ConnectionPool() as pool:
                for _ in range(CALLS):
                    answer = pool.request("GET", f"{process.base_url}/docs/changelog.md")
                    assert answer.status == 200  # of refusals, only some are logged
                    assert answer.content
                    assert any(name.lower() == b"x-request-id" for name, _ in answer.headers)
                assert (
                    pool.request(
                        "GET", f"http://127.0.0.1:{process.internal_port}/internal/healthz"
                    ).status
                    == 200
                )
            listed = subprocess.run(
                [
                    sys.executable,
                    "-m",
                    "pgs",
                    "tier",
                    "list",
                    "--json",
                    "--data",
                    str(process.folder),
                ],
                cwd=ROOT,
                capture_output=True,
                check=False,
                timeout=PATIENCE_S,
            )
            assert (listed.returncode, listed.stdout.strip(), listed.stderr) == (0, b"[]", b"")
            if kind != "unread":  # lines that a stalled reader has not taken are not lost yet
                assert lost_lines(process) >= CALLS
            code, seconds = process.stop()
    assert code == 0
    assert seconds < 15


def test_the_service_starts_without_standard_streams(tmp_path: Path) -> None:
    process = Process(tmp_path / "data")
    environ = {
        "PGS_LISTEN": f"127.0.0.1:{process.port}",
        "PGS_INTERNAL_LISTEN": f"127.0.0.1:{process.internal_port}",
    }
    shell = f"exec {sys.executable} -m pgs serve --data {process.folder} >&- 2>&- <&-"
    with subprocess.Popen(["/bin/sh", "-c", shell], env=os.environ | environ) as served:
        try:
            with httpcore.ConnectionPool(retries=20) as pool:
                assert (
                    pool.request(
                        "GET", f"http://127.0.0.1:{process.internal_port}/internal/healthz"
                    ).status
                    == 200
                )
            served.terminate()
            assert served.wait(PATIENCE_S) == 0
        finally:
            served.kill()


def test_a_data_folder_whose_name_is_no_utf_8_is_served(tmp_path: Path) -> None:
    process = Process(tmp_path / "data")
    process.folder = Path(os.fsdecode(bytes(tmp_path) + b"/d\xff"))
    served = process.launch()
    assert served.stdout is not None
    try:
        # `buffer` holds the bytes of the text stream
        line = served.stdout.buffer.readline()  # type: ignore[attr-defined]
        assert line.startswith(b"pgs is ready: ")
        assert line.endswith(b"/d\xff)\n")
    finally:
        assert process.stop()[0] == 0
    assert b'"event":"stopped"' in process.log.read_bytes()
