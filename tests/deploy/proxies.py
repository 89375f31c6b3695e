"""Runs the proxies of `deploy/` on loopback, with their samples adapted as little as possible."""

import os
import socket
import ssl
import subprocess
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import httpcore
import msgspec
import trio
import trustme

from tests.journeys.process import free_port
from tests.journeys.service import until
from tests.patience import PATIENCE_S
from tests.tools import find_tool

DEPLOY: Final = Path(__file__).parents[2] / "deploy"
OWNERS_MAP: Final = "owners.map"
"""The file in nginx's folder with the owners that `deploy/nginx/pgs-owners` writes."""


class Proxy(msgspec.Struct, frozen=True):
    """A running proxy: its ports for TLS and plain HTTP, and what a client of it trusts."""

    port: int
    plain_port: int
    tls: ssl.SSLContext

    @property
    def base_url(self) -> str:
        """The address by which clients reach the service."""
        return f"https://localhost:{self.port}"

    def pool(self, kept: int | None = None) -> httpcore.AsyncConnectionPool:
        """Return a client's connections, of which at most `kept` stay open without a request."""
        return httpcore.AsyncConnectionPool(
            ssl_context=self.tls, max_connections=20, max_keepalive_connections=kept
        )


class Places(msgspec.Struct, frozen=True):
    """What a sample is adapted to: a folder, its own ports, and those of the service.

    `nodes` has the addresses of three nodes by name. With it, the samples for several nodes are
    used, and the health checks go to the same addresses.
    """

    folder: Path
    port: int
    plain_port: int
    public: str
    internal: str
    nodes: Mapping[str, str] = {}


def adapted(sample: str, changes: dict[str, str]) -> str:
    """Return a sample with each of these texts replaced. AssertionError if it lacks one."""
    text = (DEPLOY / sample).read_text(encoding="utf-8")
    for old, new in changes.items():
        assert old in text, f"deploy/{sample} lacks {old!r}"
        text = text.replace(old, new)
    return text


def nginx(places: Places) -> tuple[list[str], list[str]]:
    """Write nginx' configuration; return the command that checks it, and the one that runs it."""
    folder = places.folder
    service = {"127.0.0.1:8000": places.public}
    if places.nodes:
        addresses = enumerate(places.nodes.values(), 1)
        service = {f"10.0.0.{number}:8000": address for number, address in addresses}
        service["/etc/nginx/pgs-owners.ma[p]"] = f"{folder}/owners.ma[p]"
    (folder / "pgs.conf").write_text(
        adapted(
            "nginx/nodes.conf" if places.nodes else "nginx/pgs.conf",
            {
                "listen 80;": f"listen 127.0.0.1:{places.plain_port};",
                "    listen [::]:80;\n": "",
                "listen 443 ssl": f"listen 127.0.0.1:{places.port} ssl",
                "    listen [::]:443 ssl http2;\n": "",
                "games.example": "localhost",
                "/etc/ssl/pgs/fullchain.pem": str(folder / "chain.pem"),
                "/etc/ssl/pgs/privkey.pem": str(folder / "key.pem"),
                **service,
            },
        )
    )
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    paths = "\n".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
    (folder / "nginx.conf").write_text(
        f"""{"user root;" if os.getuid() == 0 else ""}
daemon off;
pid {folder}/nginx.pid;
error_log stderr;
events {{ worker_connections 512; }}
http {{
access_log off;
{paths}
include {folder}/pgs.conf;
}}
"""
    )
    command = [find_tool("nginx"), "-p", str(folder), "-c", str(folder / "nginx.conf")]
    return [*command, "-t"], command


def haproxy(places: Places) -> tuple[list[str], list[str]]:
    """Write HAProxy's configuration; return the command that checks it, and the one that runs."""
    folder = places.folder
    internal = places.internal.rpartition(":")[2]
    service = {"127.0.0.1:8000 check port 8001": f"{places.public} check port {internal}"}
    if places.nodes:
        (folder / "owners").touch()
        service = {"check port 8001": "check", "/etc/haproxy/owners": str(folder / "owners")}
        for number, (name, address) in enumerate(places.nodes.items(), 1):
            service[f"server n{number} 10.0.0.{number}:8000"] = f"server {name} {address}"
    (folder / "haproxy.cfg").write_text(
        adapted(
            "haproxy/nodes.cfg" if places.nodes else "haproxy/haproxy.cfg",
            {
                "    user haproxy\n    group haproxy\n": "",
                "    log /dev/log local0\n": "    log stderr local0\n",
                "maxconn 20000": "maxconn 200",
                "bind :80\n": f"bind 127.0.0.1:{places.plain_port}\n",
                "bind :443": f"bind 127.0.0.1:{places.port}",
                "/etc/haproxy/pgs.pem": str(folder / "all.pem"),
                **service,
            },
        )
    )
    command = [find_tool("haproxy"), "-db", "-f", str(folder / "haproxy.cfg")]
    return [command[0], "-c", *command[2:]], command


MAKERS: Final[dict[str, Callable[[Places], tuple[list[str], list[str]]]]] = {
    "nginx": nginx,
    "haproxy": haproxy,
}


def make_certificate(folder: Path) -> ssl.SSLContext:
    """Write a certificate for localhost into a folder; return what trusts it."""
    authority = trustme.CA()
    issued = authority.issue_cert("localhost")
    chain = b"".join(part.bytes() for part in issued.cert_chain_pems)
    (folder / "chain.pem").write_bytes(chain)
    (folder / "key.pem").write_bytes(issued.private_key_pem.bytes())
    (folder / "all.pem").write_bytes(issued.private_key_pem.bytes() + chain)
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    return trusting


class Prepared(msgspec.Struct, frozen=True):
    """A proxy that can be started."""

    proxy: Proxy
    check: list[str]
    command: list[str]
    output: Path

    def start(self) -> subprocess.Popen[bytes]:
        """Start the proxy; what it prints goes to `output`."""
        with self.output.open("wb") as output:
            return subprocess.Popen(self.command, stdout=output, stderr=output)

    def running(self, process: subprocess.Popen[bytes]) -> bool:
        """Return whether the proxy takes connections. AssertionError if it has ended."""
        assert process.poll() is None, self.output.read_text()
        try:
            socket.create_connection(("127.0.0.1", self.proxy.port), timeout=PATIENCE_S).close()
        except OSError:
            return False
        return True


def prepare(
    kind: str,
    folder: Path,
    port: int,
    public: str,
    internal: str,
    nodes: Mapping[str, str] | None = None,
) -> Prepared:
    """Write a proxy's files into a new folder, for a service at these addresses, or for nodes."""
    folder.mkdir()
    proxy = Proxy(port or free_port(), free_port(), make_certificate(folder))
    places = Places(folder, proxy.port, proxy.plain_port, public, internal, nodes or {})
    check, command = MAKERS[kind](places)
    return Prepared(proxy, check, command, folder / "output")


@asynccontextmanager
async def proxied(
    kind: str,
    folder: Path,
    port: int,
    public: str = "",
    internal: str = "",
    nodes: Mapping[str, str] | None = None,
) -> AsyncIterator[Proxy]:
    """Run a proxy for a block, in front of a service, after its own check accepted the sample.

    With `nodes`, it runs in front of three nodes instead, whose addresses are given by name.
    """
    ready = prepare(kind, folder, port, public, internal, nodes)
    checked = await trio.run_process(
        ready.check, capture_stdout=True, capture_stderr=True, check=False
    )
    assert checked.returncode == 0, (checked.stdout + checked.stderr).decode()
    process = ready.start()
    try:
        await until(lambda: ready.running(process))
        yield ready.proxy
    finally:
        process.terminate()
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(process.wait)
