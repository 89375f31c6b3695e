"""What a node answers to a call that no node serves: its shard has no owner, or is being moved."""

from pathlib import Path

import pytest

from tests.journeys.nodes import (
    SLOW_HEAD,
    UNREADABLE,
    UNSETTLED,
    Expected,
    check_try_again,
    header,
    running_node,
)
from tests.journeys.play import mint

UNPLAYABLE: Expected = (503, "registry_unavailable")
BARE: Expected = (500, None)

UNSERVED = (
    ("/partner/me", UNREADABLE),
    ("/partner/results", UNREADABLE),
    ("/partner/tiers?gameId=chess", UNREADABLE),
    ("/partner/seat-summary", UNSETTLED),
    ("/partner/invoices", UNSETTLED),
    ("/game/session", UNPLAYABLE),
    ("/game/socket", UNPLAYABLE),
    ("/embed/test/acme", BARE),
    ("/portal/frame/test/acme", BARE),
)
"""Calls to a partner whom no node serves, and their answers."""

UNKNOWN = (
    ("GET", "/partner/nothing", 404),
    ("GET", "/game/nothing", 404),
    ("POST", "/partner/me", 405),
)


@pytest.mark.parametrize(("path", "expected"), UNSERVED)
async def test_a_call_that_no_node_serves_is_refused_in_the_shape_of_its_surface(
    tmp_path: Path, path: str, expected: Expected
) -> None:
    async with running_node(tmp_path, "n1") as one:
        partner = await one.service.partner("acme")
        token = await mint(one.service.public, partner.test, "ann")
        one.owners.give("acme", None)
        credential = token if path.startswith("/game/") else partner.test
        for headers in ([], SLOW_HEAD):
            answer = await one.call(path, credential, headers=headers)
            check_try_again(answer, expected)
            bare = path.startswith(("/embed/", "/portal/frame/"))
            kind = "text/plain" if bare else "application/json"
            assert header(answer, "content-type") == kind
            assert (answer.content == b"") == bare


@pytest.mark.parametrize(("method", "path", "status"), UNKNOWN)
async def test_what_no_node_knows_is_refused_as_always(
    tmp_path: Path, method: str, path: str, status: int
) -> None:
    async with running_node(tmp_path, "n1") as one:
        partner = await one.service.partner("acme")
        one.owners.give("acme", None)
        answer = await one.call(path, partner.test, {} if method == "POST" else None)
        assert answer.status == status
        assert header(answer, "allow") == ("GET" if status == 405 else None)
