"""The commands of docs/deployment.md install the service, on a copy of this machine's folders.

They run as root in namespaces of their own, over copies of /etc, /opt, /run and /var that vanish
with them, and without any network but their own. Only `systemctl` is a stand-in
(tests/deploy/systemctl), because systemd cannot be started there. The page's steps for Prometheus
and Grafana are not run, because they are no commands; tests/deploy/test_monitoring.py covers their
files.
"""

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.conventions.tree import ROOT
from tests.tools import do_without, find_tool

STEPS = (
    "program",
    "service",
    "start",
    "operate",
    "nginx",
    "haproxy",
    "backups",
    "new version",
)
"""What the page's blocks of commands do, in their order."""

_FROM_THE_REGISTRY = ("python3 -m venv ", "/opt/pgs/bin/pip ")
"""Commands that get packages, so they run with the machine's network."""

_COPIES = """
mkdir -p "$FOLDER"
for copied in etc opt var; do
    mkdir "$FOLDER/$copied" "$FOLDER/$copied.work"
    mount -t overlay overlay /$copied \
        -o "lowerdir=/$copied,upperdir=$FOLDER/$copied,workdir=$FOLDER/$copied.work"
done
mount -t tmpfs tmpfs /run
mkdir -p /run/haproxy /run/stand-ins
ln -s "$ROOT/tests/deploy/systemctl" /run/stand-ins/systemctl
export PATH=/run/stand-ins:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
touch "$FOLDER/net"
unshare --net="$FOLDER/net" ip link set lo up
userdel pgs 2>/dev/null || true
rm -rf /opt/pgs /etc/pgs /var/lib/pgs /var/backups/pgs
cd "$ROOT"
"""

_CERTIFICATE = """
mkdir -p /etc/ssl/pgs
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=games.example \
    -addext subjectAltName=DNS:games.example \
    -keyout /etc/ssl/pgs/privkey.pem -out /etc/ssl/pgs/fullchain.pem 2>/dev/null
cat /etc/ssl/pgs/fullchain.pem /etc/ssl/pgs/privkey.pem > /etc/haproxy/pgs.pem
echo '127.0.0.1 games.example' >> /etc/hosts
"""

_TRUSTING = "CURL_CA_BUNDLE=/etc/ssl/pgs/fullchain.pem"
_STOPS = {"nginx": "nginx -s quit; sleep 1", "haproxy": "pkill haproxy"}


def _steps() -> dict[str, list[str]]:
    """Return the commands of each step, without line breaks in them."""
    text = (ROOT / "docs" / "deployment.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    joined = [block.replace("\\\n", " ").splitlines() for block in blocks]
    return dict(zip(STEPS, joined, strict=True))


def _program(steps: dict[str, list[str]]) -> str:
    """Return a shell program that carries out the steps, each as `== step` in what it prints."""
    text = (ROOT / "docs" / "deployment.md").read_text(encoding="utf-8")
    (asked,) = re.findall(r"`(curl -s \S+ ?https://games\.example\S*|curl -s https://\S+)`", text)
    lines = ["set -euo pipefail", "trap 'cat /run/systemctl/*.log' ERR", _COPIES]
    for step, commands in steps.items():
        lines.append(f"echo == {step}")
        if step == "nginx":
            lines.append(_CERTIFICATE)
        if step in _STOPS:
            commands = [
                *commands,
                f'sleep 1; {_TRUSTING} {asked} >"$FOLDER/answer"',
                'head -c 100 "$FOLDER/answer"; echo',
                _STOPS[step],
            ]
        for command in commands:
            quoted = shlex.quote(f"set -o pipefail; {command}")
            inside = f'nsenter --net="$FOLDER/net" bash -ec {quoted}'
            lines.append(command if command.startswith(_FROM_THE_REGISTRY) else inside)
    return "\n".join(lines)


@pytest.mark.slow
def test_the_commands_of_the_page_install_run_back_up_and_renew_the_service(
    tmp_path: Path,
) -> None:
    for tool in ("unshare", "nsenter", "setpriv", "openssl", "curl", "nginx", "haproxy"):
        find_tool(tool)
    as_root = [] if os.geteuid() == 0 else [find_tool("sudo"), "-n"]
    if subprocess.run([*as_root, "unshare", "--mount", "true"], check=False).returncode:
        do_without("docs/deployment.md needs root and namespaces")
    # When the first process of a namespace ends, everything that was started in it ends too.
    environ = {"FOLDER": str(tmp_path / "copies"), "ROOT": str(ROOT), "HOME": str(tmp_path)}
    environ |= {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    variables = [f"{name}={value}" for name, value in (environ | {"PIP_QUIET": "2"}).items()]
    namespaces = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    done = subprocess.run(
        [*as_root, "env", *variables, *namespaces, "bash", "-c", _program(_steps())],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    said = dict(part.partition("\n")[::2] for part in done.stdout.split("== ")[1:])
    assert list(said) == list(STEPS)
    assert re.fullmatch(r"pgs \d+\.\d+\.\d+\n", said["program"])
    assert '"status":"ready"' in said["start"]
    assert "Partners: 0" in said["operate"]
    for proxy in ("nginx", "haproxy"):
        assert '"errors"' in said[proxy], said[proxy]
    assert re.search(r"^20\d\d-\d\d-\d\dT\d\d-\d\d-\d\dZ$", said["backups"], re.MULTILINE)
