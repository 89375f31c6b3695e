"""The settings name the engine, and an engine that is not installed is a wrong setting."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pgs.config import BadSettings, Config
from pgs.storage.engines import accept_loss, copy_to_folder, copy_to_server, open_database

URL = "postgresql://pgs@/pgs?host=/nowhere"


@pytest.mark.parametrize(
    "work",
    [
        lambda config: open_database(config, inline=True, on_locked=lambda is_new: None),
        lambda config: accept_loss(config, 0),
        lambda config: copy_to_server(config, URL),
        lambda config: copy_to_folder(config, URL, config.data_dir),
    ],
    ids=["open", "accept-loss", "to-server", "to-folder"],
)
def test_without_the_driver_an_address_of_postgresql_names_the_extra_and_touches_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, work: Callable[[Config], object]
) -> None:
    for module in ("copying", "database", "identity"):
        monkeypatch.setitem(sys.modules, f"pgs.storage.postgres.{module}", None)
    with pytest.raises(BadSettings, match="needs the extra `postgres`: pip install"):
        work(Config(data_dir=tmp_path / "data", database_url=URL))
    assert not (tmp_path / "data").exists()
