"""What a try looks up, and which addresses it connects to, counted on the simulated internet."""

import ipaddress
import json
import socket
from pathlib import Path
from random import Random

import pytest
import trio.testing

from pgs.domain.ip_addresses import ADDRESSES_MAX, REFUSED_MESSAGE, is_public
from pgs.domain.nudges import TryOutcome
from pgs.http.outbound.errors import NOT_CONNECTED, NOT_LOOKED_UP
from pgs.http.outbound.tries import Outbound
from tests.http.internet import (
    HOST,
    URL,
    Internet,
    answering,
    keeping_none,
    open_internet,
)

ROWS = json.loads(
    (Path(__file__).parents[1] / "cases" / "ssrf_cases.json").read_text(encoding="utf-8")
)
DELIVER = [
    pytest.param([[row["input"]]], row["expect"], id=f"{row['id']} {row['why']}")
    for row in ROWS
    if row["stage"] == "deliver"
]
ANSWER = [
    pytest.param(row["input"], row["expect"], id=f"{row['id']} {row['why']}")
    for row in ROWS
    if row["stage"] == "answer"
]
OK = answering(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")


async def _try(outbound: Outbound, url: str = URL) -> TryOutcome:
    return await outbound.post(url, b"{}", {"X-Service-Signature": "t=1,v1=00"})


def _outbound() -> Outbound:
    return keeping_none()


@pytest.mark.parametrize(("answers", "expect"), DELIVER + ANSWER)
async def test_every_row_of_the_case_table_has_its_outcome_after_one_look_up_for_each_try(
    autojump_clock: trio.testing.MockClock, answers: list[list[str]], expect: str
) -> None:
    async with open_internet() as internet:
        internet.handler = OK
        internet.answers = list(answers)
        for number, verdict in enumerate(expect.split(" then ")):
            before = len(internet.connects)
            outcome = await _try(_outbound())
            assert len(internet.lookups) == number + 1
            reached = internet.connects[before:]
            if verdict == "refuse":
                assert reached == []
                assert (outcome.status, outcome.error) == (None, REFUSED_MESSAGE)
            else:
                assert [address for address, _ in reached] == [answers[number][0]]
                assert (outcome.status, outcome.error) == (200, None)
        assert internet.open_sockets == 0


async def test_a_thousand_sequences_of_changing_answers_reach_no_refused_address(
    autojump_clock: trio.testing.MockClock,
) -> None:
    random = Random(20_270_115)
    bad = [
        "127.0.0.1",
        "10.0.0.1",
        "169.254.169.254",
        "0.0.0.0",
        "100.64.0.1",
        "::1",
        "::ffff:127.0.0.1",
        "fe80::1%1",
        "fd00::1",
        "64:ff9b::a00:1",
    ]
    outbound = _outbound()
    tries = reached = 0
    async with open_internet() as internet:
        for _ in range(1_000):
            answers = [[_some(random, bad) for _ in range(random.randint(0, 6))] for _ in range(3)]
            internet.answers = [*answers, ["127.0.0.1"]]
            for answer in answers:
                internet.connects.clear()
                internet.refusing = set(answer)
                outcome = await _try(outbound)
                tries += 1
                assert len(internet.lookups) == tries
                connected = [address for address, _ in internet.connects]
                reached += len(connected)
                assert set(connected).isdisjoint(bad)
                assert all(is_public(address) for address in connected)
                if set(answer).isdisjoint(bad) and answer:
                    assert connected == list(dict.fromkeys(answer))[:ADDRESSES_MAX]
                    assert outcome.error == NOT_CONNECTED
                else:
                    assert connected == []
                    assert outcome.error == REFUSED_MESSAGE
        assert internet.open_sockets == 0
    assert reached > 1_000


def _some(random: Random, bad: list[str]) -> str:
    if random.random() < 0.15:
        return random.choice(bad)
    if random.random() < 0.3:
        return str(ipaddress.IPv6Address(0x2606_4700 << 96 | random.getrandbits(64)))
    return f"93.184.{random.randint(0, 255)}.{random.randint(0, 255)}"


async def _connected(internet: Internet, url: str) -> list[tuple[str, int]]:
    internet.connects.clear()
    await _try(_outbound(), url)
    return list(internet.connects)


async def test_a_try_connects_to_the_port_of_the_url(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with open_internet() as internet:
        internet.handler = OK
        assert await _connected(internet, f"https://{HOST}/") == [("93.184.216.34", 443)]
        assert await _connected(internet, f"https://{HOST}:8443/") == [("93.184.216.34", 8443)]


async def test_the_next_address_is_tried_when_one_refuses(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with open_internet() as internet:
        internet.handler = OK
        internet.answers = [["8.8.8.8", "2606:4700:4700::1111", "1.1.1.1"]]
        internet.refusing = {"8.8.8.8", "2606:4700:4700::1111"}
        assert (await _try(_outbound())).status == 200
        assert [address for address, _ in internet.connects] == [
            "8.8.8.8",
            "2606:4700:4700::1111",
            "1.1.1.1",
        ]
        assert internet.open_sockets == 0


async def test_at_most_four_addresses_of_many_are_connected_to(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with open_internet() as internet:
        internet.answers = [[f"8.8.{number}.8" for number in range(40)]]
        internet.refusing = {f"8.8.{number}.8" for number in range(40)}
        outcome = await _try(_outbound())
        assert (outcome.status, outcome.error) == (None, NOT_CONNECTED)
        assert len(internet.connects) == ADDRESSES_MAX


async def test_an_address_bound_to_an_interface_refuses_the_answer(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with open_internet() as internet:
        internet.handler = OK
        internet.answers = [["93.184.216.34", "2606:4700:4700::1111%1"]]
        assert (await _try(_outbound())).error == REFUSED_MESSAGE
        assert internet.connects == []


async def test_a_name_without_addresses_is_refused(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with open_internet() as internet:
        internet.answers = [socket.gaierror(socket.EAI_NONAME, "Name or service not known")]
        outcome = await _try(_outbound())
        assert (outcome.status, outcome.error) == (None, REFUSED_MESSAGE)


@pytest.mark.parametrize(
    "error",
    [
        socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution"),
        socket.gaierror(socket.EAI_FAIL, "Non-recoverable failure"),
        OSError(24, "Too many open files"),
        UnicodeError("label too long"),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_a_failed_look_up_is_logged_as_no_response(
    autojump_clock: trio.testing.MockClock, error: Exception
) -> None:
    async with open_internet() as internet:
        internet.answers = [error]
        outcome = await _try(_outbound())
        assert (outcome.status, outcome.error) == (None, NOT_LOOKED_UP)
        assert internet.connects == []


async def test_no_proxy_variable_is_obeyed(
    autojump_clock: trio.testing.MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:3128")
        monkeypatch.setenv(name.lower(), "http://127.0.0.1:3128")
    async with open_internet() as internet:
        internet.handler = OK
        assert (await _try(_outbound())).status == 200
        assert internet.lookups == [(HOST.encode(), 443)]
        assert internet.connects == [("93.184.216.34", 443)]


async def test_a_redirect_is_recorded_and_never_followed(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with open_internet() as internet:
        internet.handler = answering(
            b"HTTP/1.1 307 Temporary Redirect\r\nLocation: https://127.0.0.1/\r\n"
            b"Content-Length: 0\r\n\r\n"
        )
        assert (await _try(_outbound())).status == 307
        assert (len(internet.lookups), len(internet.connects)) == (1, 1)


async def test_a_client_that_is_closed_opens_a_connection_for_each_try(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with open_internet() as internet:
        internet.handler = OK
        outbound = _outbound()
        for number in range(1, 4):
            assert (await _try(outbound)).status == 200
            assert (len(internet.lookups), len(internet.connects), internet.open_sockets) == (
                number,
                number,
                0,
            )


async def test_a_process_out_of_descriptors_makes_no_connection_and_does_not_raise(
    autojump_clock: trio.testing.MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: object) -> None:
        raise OSError(24, "Too many open files")

    async with open_internet() as internet:
        monkeypatch.setattr(internet, "socket", full)
        outcome = await _try(_outbound())
        assert (outcome.status, outcome.error) == (None, NOT_CONNECTED)
