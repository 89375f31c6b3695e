"""Runs the shell lines that the demo and the README offer for pasting."""

import os
import stat
import sys
from pathlib import Path

import trio

_STAND_IN = """#!{python}
import argparse, sys, urllib.error, urllib.request
parser = argparse.ArgumentParser()
parser.add_argument("-s", action="store_true")
parser.add_argument("-H", action="append", default=[])
parser.add_argument("-d")
parser.add_argument("-w", default="")
parser.add_argument("url")
args = parser.parse_args()
request = urllib.request.Request(args.url, data=None if args.d is None else args.d.encode())
for header in args.H:
    request.add_header(*header.split(": ", 1))
try:
    with urllib.request.urlopen(request, timeout=30) as response:
        sys.stdout.write(response.read().decode())
except urllib.error.HTTPError as error:
    sys.stdout.write(error.read().decode())
sys.stdout.write(args.w.replace(r"\\n", "\\n"))
"""


async def run_shell(script: str, folder: Path, *, real_curl: bool) -> str:
    """Return what a shell prints for `script` in `folder`, errors included.

    Without `real_curl`, a small Python program stands in for curl.
    """
    tools = folder / "tools"
    tools.mkdir()
    (tools / "python3").symlink_to(sys.executable)
    if not real_curl:
        curl = tools / "curl"
        curl.write_text(_STAND_IN.format(python=sys.executable))
        curl.chmod(curl.stat().st_mode | stat.S_IXUSR)
    environment = {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
    environment = {
        name: value for name, value in environment.items() if not name.lower().endswith("_proxy")
    }
    done = await trio.run_process(
        ["bash", "-eu", "-o", "pipefail", "-c", script],
        cwd=folder,
        env=environment,
        capture_stdout=True,
        stderr=-2,
        check=False,
    )
    text = (done.stdout or b"").decode()
    assert done.returncode == 0, text
    return text
