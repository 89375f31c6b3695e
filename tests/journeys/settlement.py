"""The reference settlement server as a process that can be killed and started again."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpcore

from tests.conventions.tree import ROOT
from tests.journeys.process import free_port


class SettlementProcess:
    """`scripts/settlement_server.py` on a folder and a port of its own."""

    def __init__(self, folder: Path, *faults: str) -> None:
        self.folder = folder
        self.port = free_port()
        self._faults = [word for fault in faults for word in ("--fault", fault)]
        self._starts = 0
        self._process: subprocess.Popen[str] | None = None

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def token_file(self) -> Path:
        """The file with its token, there once it has started."""
        return self.folder / "token"

    def start(self) -> None:
        """Start the process and return once it takes calls."""
        self._starts += 1
        words = ["--data", str(self.folder), "--port", str(self.port), *self._faults]
        self._process = subprocess.Popen(
            [
                sys.executable,
                "scripts/settlement_server.py",
                *words,
                "--seed",
                str(self._starts),
            ],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line.startswith(f"settlement is ready: {self.url} "), line

    def end(self) -> None:
        """Kill the process as a power cut would, if it runs."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()

    def call(self, method: str, path: str, body: object = None) -> Any:
        """Return the answer to a call of its control."""
        token = self.token_file.read_text().strip()
        content = b"" if body is None else json.dumps(body).encode()
        response = httpcore.request(
            method,
            f"{self.url}{path}",
            headers={"Authorization": f"Bearer {token}", "Content-Length": str(len(content))},
            content=content,
        )
        assert response.status == 200, response.content
        return json.loads(response.content)
