"""`scripts/seed.py` makes the data folder of the load tests."""

import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import trio

from pgs.app import open_core
from pgs.config import Config
from pgs.domain.environments import ENVIRONMENTS
from pgs.domain.keys import hash_key, parse_key
from pgs.games.installed import GAMES
from tests.conventions.tree import ROOT
from tests.patience import PATIENCE_S


def seed(data: Path, partners: int, out: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            sys.executable,
            ROOT / "scripts" / "seed.py",
            "--data",
            data,
            "--partners",
            str(partners),
            "--out",
            out,
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
        env={"PATH": os.environ["PATH"]},
    )


async def test_seeded_partners_can_play_with_the_keys_in_the_file(tmp_path: Path) -> None:
    data, out = tmp_path / "data", tmp_path / "keys.json"
    out.write_text("older keys, readable by everyone")
    (tmp_path / "keys.json.new").write_text("left by a run that was killed")
    done = await trio.to_thread.run_sync(seed, data, 5, out)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    entries = json.loads(out.read_text())
    assert [entry["partnerId"] for entry in entries] == [
        f"load-000{number}" for number in range(1, 6)
    ]
    async with open_core(Config(data_dir=data)) as core:
        for entry in entries:
            assert entry.keys() == {"partnerId", "testKey", "liveKey", "tierId"}
            for environment in ENVIRONMENTS:
                key = entry[f"{environment}Key"]
                parsed, known = parse_key(key), core.parts.registry.find_key(hash_key(key))
                assert parsed is not None
                assert known is not None
                assert parsed.environment == known.key.environment == environment
                assert known.account.partner_id == entry["partnerId"]
                assert known.account.active
                assert known.account.licensed_games(known.key.environment) == sorted(GAMES)
            account = core.parts.registry.account(entry["partnerId"])
            assert account is not None
            assert account.agreed_terms_version == 1
        tiers = await core.parts.catalogue.current()
        for environment in ENVIRONMENTS:
            tier = tiers.find(environment, f"{environment}-bronze")
            assert tier is not None
            assert (tier.current.floor_usd_cents, tier.current.prize_usd_cents) == (100, 180)
        assert entries[0]["tierId"] == "test-bronze"


def test_a_folder_that_is_in_use_is_not_seeded(tmp_path: Path) -> None:
    data, out = tmp_path / "data", tmp_path / "keys.json"
    data.mkdir()
    (data / "pgs.db").write_bytes(b"somebody's")
    refused = seed(data, 1, out)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "holds a database already" in refused.stderr
    assert (data / "pgs.db").read_bytes() == b"somebody's"
    assert not out.exists()


def test_nothing_is_created_when_the_folder_of_the_file_is_missing(tmp_path: Path) -> None:
    refused = seed(tmp_path / "data", 1, tmp_path / "nowhere" / "keys.json")
    assert refused.returncode == 1
    assert "nowhere" in refused.stderr
    assert not (tmp_path / "data").exists()


def test_a_pipe_is_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    done = seed(tmp_path / "data", 1, tmp_path / "pipe")
    assert (done.returncode, (tmp_path / "data").exists()) == (1, False)
    assert "is not a regular file" in done.stderr
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


# The Python from which the environment was made. The package is not installed in it.
PLAIN_PYTHON = Path(sys.base_prefix) / "bin" / "python3"


def test_a_script_started_by_any_python_runs_in_the_checkouts_environment() -> None:
    done = subprocess.run(
        [PLAIN_PYTHON, ROOT / "scripts" / "seed.py", "--help"],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0, done.stderr
    assert "--partners" in done.stdout


def test_a_script_in_a_checkout_without_an_environment_says_how_to_make_one(tmp_path: Path) -> None:
    scripts = tmp_path / "scripts"
    scripts.mkdir()
    for name in ("seed.py", "in_venv.py"):
        shutil.copy(ROOT / "scripts" / name, scripts)
    done = subprocess.run(
        [PLAIN_PYTHON, scripts / "seed.py"],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert (done.returncode, done.stderr) == (
        1,
        "seed.py: pgs is not installed here. Run scripts/setup first.\n",
    )
