"""What others may read of a data folder is said in the log when the service starts."""

from pathlib import Path
from unittest import mock

from pgs.app import open_core
from pgs.config import Config
from pgs.privacy import kept_files, warn_of_open


def _warned(config: Config) -> dict[str, str]:
    """What is warned of: modes by path."""
    with mock.patch("pgs.privacy.log") as log:
        warn_of_open(kept_files(config))
    lines = log.warning.call_args_list
    assert all(line.args == ("open_to_others",) for line in lines)
    return {line.kwargs["path"]: line.kwargs["mode"] for line in lines}


async def test_what_the_service_makes_itself_is_its_owners_alone(tmp_path: Path) -> None:
    config = Config(data_dir=tmp_path / "data", secret_key_file=tmp_path / "elsewhere" / "ring")
    async with open_core(config):
        assert {path.name for path in kept_files(config) if path.exists()} == {
            "data",
            "pgs.db",
            "pgs.db-wal",
            "pgs.db-shm",
            "ring",
        }
        assert _warned(config) == {}


def test_each_path_that_group_or_others_can_use_is_named_with_its_mode(tmp_path: Path) -> None:
    config = Config(data_dir=tmp_path)
    for name, mode in (("pgs.db", 0o644), ("pgs.db-wal", 0o600), ("keys", 0o640)):
        (tmp_path / name).touch()
        (tmp_path / name).chmod(mode)
    tmp_path.chmod(0o711)
    assert _warned(config) == {
        str(tmp_path): "0711",
        str(tmp_path / "pgs.db"): "0644",
        str(tmp_path / "keys"): "0640",
    }
    tmp_path.chmod(0o700)


def test_what_is_not_there_is_passed_over(tmp_path: Path) -> None:
    assert _warned(Config(data_dir=tmp_path / "nowhere")) == {}
