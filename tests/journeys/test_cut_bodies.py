"""A request whose body is shorter than its Content-Length."""

from urllib.parse import urlsplit

import msgspec
import pytest
import trio

from tests.journeys.client import ok
from tests.journeys.partners import seat_body
from tests.journeys.places import Place
from tests.journeys.service import in_process
from tests.journeys.ways import LANE
from tests.patience import PATIENCE_S


@pytest.mark.parametrize("lane", LANE)
@pytest.mark.parametrize("missing", [1, 40_000])
async def test_a_truncated_body_has_no_effect_even_if_it_is_complete_json(
    place: Place, missing: int, lane: str
) -> None:
    async with in_process(place, lane=lane) as service:
        key = (await service.partner()).test
        body = msgspec.json.encode(seat_body("alice", "a"))
        lines = (
            "POST /partner/matches HTTP/1.1",
            "Host: h",
            f"Authorization: Bearer {key}",
            f"Content-Length: {len(body) + missing}",
        )
        where = urlsplit(service.public.next_url)
        with trio.fail_after(PATIENCE_S):
            async with await trio.open_tcp_stream(where.hostname or "", where.port or 0) as stream:
                await stream.send_all("\r\n".join((*lines, "", "")).encode() + body)
                await stream.send_eof()
                said = b"".join([piece async for piece in stream])
        assert b" 200 " not in said
        assert (
            ok(await service.public.call("POST", "/partner/matches", key, seat_body("bob", "b")))[
                "status"
            ]
            == "waiting"
        )
        again = await service.public.call("POST", "/partner/matches", key, seat_body("alice", "a"))
        assert (ok(again)["status"], again.header("idempotent-replayed")) == ("matched", None)
