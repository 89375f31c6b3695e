"""A starting service warns of each of its files that group or others can use."""

from pathlib import Path
from unittest import mock

from pgs.app import open_core
from pgs.config import Config
from pgs.file_permissions import kept_files, warn_of_open


def _warned(config: Config) -> dict[str, str]:
    """Return the mode of each path that a warning names."""
    with mock.patch("pgs.file_permissions.log") as log:
        warn_of_open(kept_files(config))
    lines = log.warning.call_args_list
    assert all(line.args == ("open_to_others",) for line in lines)
    return {line.kwargs["path"]: line.kwargs["mode"] for line in lines}


async def test_only_the_owner_can_use_the_files_that_the_service_creates(tmp_path: Path) -> None:
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


def test_a_missing_file_causes_no_warning(tmp_path: Path) -> None:
    assert _warned(Config(data_dir=tmp_path / "nowhere")) == {}
