"""In which language the frame's document is."""

import re
from pathlib import Path

import pytest

from pgs.http.embed.app import QUERY_FIELDS_MAX
from pgs.http.embed.languages import LANGUAGES, language_of
from tests.http.embed.embedding import embedding_service
from tests.journeys.service import Service


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("", "en"),
        ("de", "de"),
        ("pt-BR,pt;q=0.9,en;q=0.8", "pt"),
        ("ja,fr-CA;q=0.5,de;q=0.7", "de"),
        ("DE-at", "de"),
        ("de;q=0,fr;q=0.1", "fr"),
        ("fr;q=0.5,es;q=0.5", "fr"),
        ("*", "en"),
        ("ja", "en"),
        ("de;q=high,ar;Q=0.3", "ar"),
        ("de;q=1e9,es", "es"),
        ("de;level=1", "en"),
        ("de;q=\u0661,es;q=0.2", "es"),
        (",;,;q=1,;;", "en"),
    ],
)
def test_the_language_with_the_greatest_weight_is_taken(accepted: str, language: str) -> None:
    assert language_of((), accepted) == language


def test_what_the_address_asks_for_counts_more_than_what_the_browser_accepts() -> None:
    assert language_of(["pt-BR"], "de") == "pt"
    assert language_of(["xx", "ar"], "de") == "ar"
    assert language_of(["xx", "../de"], "de") == "de"


async def _language(service: Service, path: str, accepted: str | None) -> str:
    headers = [] if accepted is None else [("Accept-Language", accepted)]
    reply = await service.public.call("GET", path, headers=headers)
    assert reply.status == 200
    assert reply.header("vary") == "accept-language, accept-encoding"
    assert reply.header("cache-control") == "no-store"
    found = re.search(r'<html lang="(\w+)"', reply.content.decode())
    assert found
    return found[1]


async def test_a_document_is_in_the_language_of_its_player(tmp_path: Path) -> None:
    async with embedding_service(tmp_path) as service:
        for language in LANGUAGES:
            assert await _language(service, "/embed/acme", f"{language};q=0.9") == language
            asked = f"/embed/test/acme?lang={language}-XX"
            assert await _language(service, asked, "fr") == language
        assert await _language(service, "/embed/acme", None) == "en"
        assert await _language(service, "/embed/acme?lang=%ff%3Cscript", "es") == "es"
        many = "&".join(["lang=de"] * (QUERY_FIELDS_MAX + 1))
        assert await _language(service, f"/embed/acme?{many}", "es") == "es"
