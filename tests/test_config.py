"""An invalid setting is refused before anything starts, and the error names it."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from pgs.config import BadSettings, Config, check_config, load_config

BAD = [
    "foo",
    ":8000",
    "127.0.0.1:",
    "127.0.0.1:99999",
    "127.0.0.1:8000000000000",
    "127.0.0.1:\uff18\uff10",
    "5",
]

ISSUER = {"identity_issuer": "https://id.example", "identity_client_id": "portal"}


def from_file(tmp_path: Path, text: str, environ: Mapping[str, str] | None = None) -> Config:
    """Return the settings of a file with this text, overridden by these variables."""
    path = tmp_path / "pgs.toml"
    path.write_text(text)
    return load_config(path, environ or {})


@pytest.mark.parametrize("name", ["listen", "internal_listen"])
@pytest.mark.parametrize("address", BAD)
def test_a_malformed_listening_address_is_refused_by_its_settings_name(
    name: str, address: str
) -> None:
    with pytest.raises(BadSettings, match=f"PGS_{name.upper()}"):
        check_config(Config(**{name: address}))  # type: ignore[arg-type]  # fields by name


@pytest.mark.parametrize("address", ["127.0.0.1:0", "[::1]:8000", "localhost:65535"])
def test_a_valid_listening_address_is_accepted(address: str) -> None:
    assert check_config(Config(listen=address)).listen == address


def test_variables_override_the_file_and_the_file_overrides_the_defaults(tmp_path: Path) -> None:
    config = from_file(
        tmp_path, '[pgs]\nprocess_rate = 7\nlisten = "127.0.0.1:1"\n', {"PGS_LISTEN": "127.0.0.1:2"}
    )
    assert (config.process_rate, config.listen, config.log_level) == (7, "127.0.0.1:2", "info")


def test_a_relative_folder_in_the_file_begins_at_the_files_folder(tmp_path: Path) -> None:
    config = from_file(tmp_path, '[pgs]\ndata_dir = "data"\n')
    assert (config.data_dir, config.key_file) == (tmp_path / "data", tmp_path / "data" / "keys")


def test_the_file_may_be_named_by_a_variable(tmp_path: Path) -> None:
    (tmp_path / "pgs.toml").write_text("[pgs]\nprocess_rate = 7\n")
    assert load_config(None, {"PGS_CONFIG": str(tmp_path / "pgs.toml")}).process_rate == 7


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", r"no table \[pgs\]"),
        ('listen = "127.0.0.1:1"\n', r"no table \[pgs\]"),
        ("pgs = 3\n", r"no table \[pgs\]"),
        ('listen = "127.0.0.1:1"\n[pgs]\n', "listen stands outside"),
        ("[pgs]\n[other]\n", "other stands outside"),
        ("[pgs]\nlistne = 1\n", r"listne in .*pgs\.toml is no setting; is listen meant\?"),
        ('[pgs]\nbase-url = "https://a.example"\n', r"base-url in .* is base_url meant\?"),
        ("[pgs.identity]\n", r"identity in .* is no setting"),
        (
            '[pgs]\nsettlement_url = "https://s.example"\n',
            "PGS_SETTLEMENT_URL needs PGS_SETTLEMENT_TOKEN_FILE",
        ),
        ("[pgs\n", "not valid TOML"),
        ("[pgs]\nlisten = 5\n", "PGS_LISTEN must be a text"),
        ("[pgs]\nprocess_rate = true\n", "PGS_PROCESS_RATE must be a whole number"),
        ("[pgs]\nprocess_rate = 1.5\n", "PGS_PROCESS_RATE must be a whole number"),
        ('[pgs]\ndata_dir = ["a"]\n', "PGS_DATA_DIR must be a text"),
        ('[pgs]\nsecret_key_file = ""\n', "secret_key_file in .* must not be empty"),
    ],
)
def test_a_mistake_in_the_file_is_refused_and_named(tmp_path: Path, text: str, named: str) -> None:
    with pytest.raises(BadSettings, match=named):
        from_file(tmp_path, text)


def test_a_file_that_cannot_be_read_as_text_is_refused_with_its_path(tmp_path: Path) -> None:
    (tmp_path / "pgs.toml").write_bytes(b"[pgs]\n\xff")
    for path in (tmp_path / "pgs.toml", tmp_path, tmp_path / "nowhere.toml"):
        with pytest.raises(BadSettings, match=str(path)):
            load_config(path, {})


@pytest.mark.parametrize(
    ("name", "value", "named"),
    [
        ("PGS_LISTNE", "", r"PGS_LISTNE is no setting; is PGS_LISTEN meant\?"),
        ("PGS_listen", "127.0.0.1:1", "PGS_listen is no setting"),
        ("PGS_DATABASE", "x", "PGS_DATABASE is no setting"),
        (
            "PGS_SETTLEMENT_URL",
            "https://s.example",
            "PGS_SETTLEMENT_URL needs PGS_SETTLEMENT_TOKEN_FILE",
        ),
        ("PGS_SETTLEMENT_URL", "http://s.example", "must be an https address, or http on this"),
        ("PGS_SETTLEMENT_URL", "https://s.example?a=1", "PGS_SETTLEMENT_URL .* without a query"),
        ("PGS_SETTLEMENT_URL", "https://u@s.example", "PGS_SETTLEMENT_URL must be"),
        ("PGS_SETTLEMENT_URL", f"https://s.example/{'a' * 2000}", "PGS_SETTLEMENT_URL must be"),
        ("PGS_SETTLEMENT_TOKEN_FILE", "token", "has no effect without PGS_SETTLEMENT_URL"),
        ("PGS_PROCESS_RATE", "abc", "PGS_PROCESS_RATE"),
        ("PGS_PROCESS_RATE", "1_0", "PGS_PROCESS_RATE"),
        ("PGS_PROCESS_RATE", "", "PGS_PROCESS_RATE"),
        ("PGS_PROCESS_RATE", "9" * 5000, "PGS_PROCESS_RATE"),
        ("PGS_PROCESS_RATE", "0", "PGS_PROCESS_RATE"),
        ("PGS_DATA_DIR", "", "PGS_DATA_DIR must not be empty"),
        ("PGS_LOG_LEVEL", "loud", "PGS_LOG_LEVEL"),
        ("PGS_RESTRICT_ENVIRONMENT", "prod", "PGS_RESTRICT_ENVIRONMENT"),
    ],
)
def test_an_unknown_or_invalid_variable_is_refused_and_named(
    name: str, value: str, named: str
) -> None:
    with pytest.raises(BadSettings, match=named):
        load_config(None, {name: value})


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"node_name": "Node_1"}, "PGS_NODE_NAME must be"),
        ({"node_name": "n" * 33}, "PGS_NODE_NAME must be"),
        ({"database_url": ""}, "PGS_NODE_NAME needs PGS_DATABASE_URL"),
        ({"node_address": ""}, "PGS_NODE_NAME needs PGS_NODE_ADDRESS"),
        ({"node_address": "node-1"}, "PGS_NODE_NAME needs PGS_NODE_ADDRESS"),
        ({"node_address": "node-1:0"}, "PGS_NODE_NAME needs PGS_NODE_ADDRESS"),
        ({"node_name": ""}, "PGS_NODE_ADDRESS has no effect without PGS_NODE_NAME"),
    ],
)
def test_a_node_without_its_name_its_address_or_a_shared_database_is_refused(
    change: dict[str, str], named: str
) -> None:
    node = {
        "database_url": "postgresql://db.example/pgs",
        "node_name": "node-1",
        "node_address": "10.0.0.1:8000",
    }
    assert check_config(Config(**node)).node_name == "node-1"  # type: ignore[arg-type]  # texts
    with pytest.raises(BadSettings, match=named):
        check_config(Config(**{**node, **change}))  # type: ignore[arg-type]  # texts


def test_variables_of_other_programs_and_empty_reserved_ones_are_ignored() -> None:
    environ = {
        "PGS_CONFIG": "",
        "PGS_KEY": "pk_test_x",
        "PGS_WEBHOOK_SECRET": "whsec_x",
        "PGSQL_HOST": "x",
        "HOME": "/",
        "PGS_SETTLEMENT_URL": "",
    }
    assert load_config(None, environ) == load_config(None, {})


def test_an_empty_variable_for_the_key_file_leaves_the_default_path() -> None:
    config = load_config(None, {"PGS_SECRET_KEY_FILE": "", "PGS_DATA_DIR": "/data"})
    assert config.key_file == Path("/data/keys")


@pytest.mark.parametrize(
    "url",
    [
        "http://[::1",
        "ftp://a.example",
        "https://",
        "https://a.example/",
        "https://a.example?",
        "https://u@a.example",
        "http://a:99999",
    ],
)
def test_a_base_url_that_is_not_an_origin_is_refused(url: str) -> None:
    with pytest.raises(BadSettings, match="PGS_BASE_URL"):
        check_config(Config(base_url=url))


@pytest.mark.parametrize("url", ["https://games.example", "http://pgs_1:8000", "http://[::1]:8000"])
def test_a_base_url_that_is_an_origin_is_accepted(url: str) -> None:
    assert check_config(Config(base_url=url)).base_url == url


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        (ISSUER | {"identity_issuer": "http://id.example"}, "PGS_IDENTITY_ISSUER must be"),
        (ISSUER | {"identity_issuer": "id.example"}, "PGS_IDENTITY_ISSUER must be"),
        (
            ISSUER | {"identity_issuer": "https://id.example?tenant=1"},
            "PGS_IDENTITY_ISSUER must be",
        ),
        (
            {"identity_issuer": "https://id.example"},
            "PGS_IDENTITY_ISSUER needs PGS_IDENTITY_AUDIENCE or PGS_IDENTITY_CLIENT_ID",
        ),
        (ISSUER | {"identity_jwks_url": "http://id.example/keys"}, "PGS_IDENTITY_JWKS_URL must be"),
        (
            ISSUER | {"identity_jwks_url": "http://127.0.0.1/keys"},
            "PGS_IDENTITY_JWKS_URL must be https",
        ),
        (ISSUER | {"identity_audience": "a\nb"}, "PGS_IDENTITY_AUDIENCE"),
        (ISSUER | {"identity_client_id": " portal"}, "PGS_IDENTITY_CLIENT_ID"),
        (
            {"identity_audience": "a"},
            "PGS_IDENTITY_AUDIENCE has no effect without PGS_IDENTITY_ISSUER",
        ),
        (
            {"identity_client_id": "a"},
            "PGS_IDENTITY_CLIENT_ID has no effect without PGS_IDENTITY_ISSUER",
        ),
        (
            {"identity_jwks_url": "https://id.example/keys"},
            "PGS_IDENTITY_JWKS_URL has no effect without PGS_IDENTITY_ISSUER",
        ),
        ({"frame_url": "http://frame.example/"}, "PGS_FRAME_URL"),
        ({"frame_url": "/frame"}, "PGS_FRAME_URL"),
    ],
)
def test_an_unsafe_or_incomplete_issuer_or_frame_is_refused_and_named(
    settings: dict[str, str], named: str
) -> None:
    with pytest.raises(BadSettings, match=named):
        load_config(None, {f"PGS_{name.upper()}": value for name, value in settings.items()})


@pytest.mark.parametrize(
    ("settings", "audience"),
    [
        (ISSUER, "portal"),
        (ISSUER | {"identity_audience": "games"}, "games"),
        (
            {
                "identity_issuer": "http://127.0.0.1:9000/id",
                "identity_audience": "a",
                "identity_jwks_url": "http://127.0.0.1:9000/k?v=1",
            },
            "a",
        ),
        ({"frame_url": "https://frame.example/v1/frame.html?a=b"}, ""),
        ({"frame_url": "http://localhost:5173"}, ""),
    ],
)
def test_a_valid_issuer_or_frame_is_accepted(settings: dict[str, str], audience: str) -> None:
    config = load_config(None, {f"PGS_{name.upper()}": value for name, value in settings.items()})
    assert {name: getattr(config, name) for name in settings} == settings
    assert config.token_audience == audience


def test_the_settlement_server_may_have_a_private_address_and_a_path(tmp_path: Path) -> None:
    config = from_file(
        tmp_path,
        '[pgs]\nsettlement_url = "https://10.0.0.5:8443/settle/"\n'
        'settlement_token_file = "token"\n',
    )
    assert config.settlement_url == "https://10.0.0.5:8443/settle/"
    assert config.settlement_token_file == tmp_path / "token"


def test_the_token_of_the_settlement_server_is_in_no_repr(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("s3cret")
    config = Config(settlement_url="https://s.example", settlement_token_file=tmp_path / "token")
    assert "s3cret" not in repr(config)
