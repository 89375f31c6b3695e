"""Which service URLs an operator may set."""

import pytest

from pgs.domain.service_urls import ServiceUrl, is_loopback, is_loopback_host, parse_service_url


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("https://id.example.com", ServiceUrl(True, "id.example.com", 443, "/")),
        ("https://ID.Example.com/realms/a", ServiceUrl(True, "id.example.com", 443, "/realms/a")),
        (
            "https://id.example.com:8443/keys?v=2",
            ServiceUrl(True, "id.example.com", 8443, "/keys?v=2"),
        ),
        ("https://id.example.com?v=2", ServiceUrl(True, "id.example.com", 443, "/?v=2")),
        ("https://10.0.0.5/", ServiceUrl(True, "10.0.0.5", 443, "/")),
        ("https://[2001:DB8::1]:444/", ServiceUrl(True, "2001:db8::1", 444, "/")),
        ("https://issuer/", ServiceUrl(True, "issuer", 443, "/")),
        ("http://localhost:9000", ServiceUrl(False, "localhost", 9000, "/")),
        ("http://127.0.0.1", ServiceUrl(False, "127.0.0.1", 80, "/")),
        ("http://127.8.9.1", ServiceUrl(False, "127.8.9.1", 80, "/")),
        ("http://[::1]:9000/a;b=c", ServiceUrl(False, "::1", 9000, "/a;b=c")),
    ],
)
def test_a_url_is_parsed_into_its_parts(text: str, parsed: ServiceUrl) -> None:
    assert parse_service_url(text) == parsed


@pytest.mark.parametrize(
    "text",
    [
        "",
        "id.example.com",
        "//id.example.com",
        "ftp://id.example.com",
        "HTTPS://id.example.com",
        "https://",
        "https:///keys",
        "https://user@id.example.com",
        "https://id.example.com#keys",
        "https://id.example.com/#keys",
        "https://id.example.com/a b",
        "https://id.example.com/\n",
        "https://id.example.com\n",
        "https://id.example.com\\@evil.example",
        "https://id.example.com/\\evil",
        "https://id.example.com:0",
        "https://id.example.com:65536",
        "https://id.example.com:443x",
        "https://id.example.com:",
        "https://bücher.example",
        "https://id..example.com",
        "https://2130706433",
        "https://0x7f.1",
        "https://[id.example.com]",
        "https://[127.0.0.1",
        "https://::1",
        "https://[fe80::1%eth0]",
        "https://id.example.com/" + "a" * 2048,
    ],
)
def test_a_text_that_is_not_a_service_url_is_refused(text: str) -> None:
    assert parse_service_url(text) is None


@pytest.mark.parametrize(
    "host",
    [
        "id.example.com",
        "10.0.0.5",
        "0.0.0.0",
        "localhost.example.com",
        "127.0.0.1.example.com",
        "[::ffff:10.0.0.5]",
        "[::]",
    ],
)
def test_http_to_another_machine_is_refused(host: str) -> None:
    assert parse_service_url(f"http://{host}/") is None


def test_only_addresses_of_this_machine_are_loopback() -> None:
    assert all(is_loopback(address) for address in ("127.0.0.1", "127.255.255.254", "::1"))
    assert not any(
        is_loopback(address)
        for address in ("localhost", "0.0.0.0", "::", "10.0.0.1", "", "127.1", "::1%lo")
    )
    assert is_loopback_host("localhost")
    assert not is_loopback_host("localhost.example.com")
