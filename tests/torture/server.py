"""The service as a process on a data folder with seeded partners."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.conventions.tree import ROOT
from tests.journeys.process import Process
from tests.patience import PATIENCE_S


class Server(Process):
    """`pgs serve` on a seeded folder. It can be killed and started again on the same ports."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        super().__init__(folder / "data", PGS_LOG_LEVEL="warning", **settings)
        self._keys = folder / "keys.json"

    def seed(self, partners: int) -> list[dict[str, str]]:
        """Create `partners` new partners and return their keys."""
        command = [
            sys.executable,
            "scripts/seed.py",
            "--data",
            str(self.folder),
            "--partners",
            str(partners),
            "--out",
            str(self._keys),
        ]
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=120)
        seeded: list[dict[str, str]] = json.loads(self._keys.read_text())
        return seeded

    def widen(self, partner_id: str, calls: int) -> None:
        """Set the burst and the rate of a partner's bucket. Call it before the service starts."""
        words = [
            "partner",
            "set",
            partner_id,
            "--burst",
            str(calls),
            "--rate",
            str(calls),
            "--data",
            str(self.folder),
            "--json",
        ]
        subprocess.run(
            [sys.executable, "-m", "pgs", *words],
            cwd=ROOT,
            check=True,
            capture_output=True,
            timeout=PATIENCE_S,
        )

    @property
    def internal_url(self) -> str:
        """The URL of the internal listener."""
        return f"http://127.0.0.1:{self.internal_port}"

    @property
    def running(self) -> bool:
        """Whether the process runs."""
        return self._process is not None and self._process.poll() is None
