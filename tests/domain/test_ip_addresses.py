import ipaddress
import json
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs.domain.ip_addresses import ADDRESSES_MAX, check_answer, is_public

ROWS = json.loads(
    (Path(__file__).parents[1] / "cases" / "ssrf_cases.json").read_text(encoding="utf-8")
)
DELIVER = [
    pytest.param(row["input"], row["expect"], id=f"{row['id']} {row['why']}")
    for row in ROWS
    if row["stage"] == "deliver"
]
ANSWER = [
    pytest.param(row["input"], row["expect"], id=f"{row['id']} {row['why']}")
    for row in ROWS
    if row["stage"] == "answer"
]

# No address of these blocks is public. Below, both ends and both neighbours of each are tested.
SPECIAL = [
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.31.196.0/24",
    "192.52.193.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "192.175.48.0/24",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/3",
    "168.63.129.16/32",
    "::/3",
    "2001::/23",
    "2001:db8::/32",
    "2002::/16",
    "2620:4f:8000::/48",
    "3fff::/20",
    "4000::/2",
    "8000::/1",
]


@pytest.mark.parametrize(("address", "expect"), DELIVER)
def test_every_delivery_case_has_its_expected_verdict(address: str, expect: str) -> None:
    assert is_public(address) is (expect == "connect")
    assert check_answer([address]) == ((address,) if expect == "connect" else None)


@pytest.mark.parametrize(("answers", "expect"), ANSWER)
def test_every_dns_answer_case_has_its_expected_verdicts(
    answers: list[list[str]], expect: str
) -> None:
    verdicts = ["refuse" if check_answer(answer) is None else "connect" for answer in answers]
    assert verdicts[: expect.count("then") + 1] == expect.split(" then ")


@pytest.mark.parametrize("block", SPECIAL)
def test_a_special_block_is_refused_from_its_first_address_to_its_last(block: str) -> None:
    network = ipaddress.ip_network(block)
    assert not is_public(str(network[0]))
    assert not is_public(str(network[-1]))
    for neighbour in (int(network[0]) - 1, int(network[-1]) + 1):
        if 0 <= neighbour < 2**network.max_prefixlen:
            beside = type(network[0])(neighbour)
            # Some blocks touch: the neighbour is public unless another block holds it.
            held = any(
                beside in ipaddress.ip_network(other)
                for other in SPECIAL
                if ":" in other or beside.version == 4
            )
            assert is_public(str(beside)) is not held


@pytest.mark.parametrize(
    "address",
    [
        "",
        " ",
        "8.8.8.8 ",
        "8.8.8.8\n",
        "008.8.8.8",
        "8.8.8",
        "134744072",
        "0x08080808",
        "８.8.8.8",  # noqa: RUF001 - a full-width digit
        "8.8.8.8%eth0",
        "2606:4700:4700::1111%1",
        "2606:4700:4700::1111%",
        "[2606:4700:4700::1111]",
        "2606:4700:4700:::1111",
        "example.com",
        "8.8.8.8:443",
        "8.8.8.8/32",
        "\x00",
        "\ud800",
    ],
)
def test_a_text_that_is_not_a_plain_address_is_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "prefix", ["::", "::ffff:", "::ffff:0:", "64:ff9b::", "64:ff9b:1::", "fe80::", "fd00::"]
)
@pytest.mark.parametrize("inner", ["8.8.8.8", "127.0.0.1", "169.254.169.254"])
def test_an_ipv4_address_inside_an_ipv6_one_is_never_public(prefix: str, inner: str) -> None:
    assert not is_public(f"{prefix}{inner}")


def test_no_random_address_outside_global_unicast_is_public() -> None:
    random = Random(1)
    for _ in range(2_000):
        address = ipaddress.IPv6Address(random.getrandbits(128))
        if int(address) >> 125 != 1:
            assert not is_public(str(address))
        elif is_public(str(address)):
            assert address.is_global


@given(st.text(max_size=50))
def test_no_text_raises_an_exception(text: str) -> None:
    assert is_public(text) in (True, False)


def test_one_bad_address_at_any_place_refuses_the_whole_answer() -> None:
    public = [f"8.8.{number}.8" for number in range(6)]
    for place in range(7):
        assert check_answer([*public[:place], "10.0.0.1", *public[place:]]) is None


def test_at_most_four_addresses_are_tried_in_the_order_of_the_answer_each_once() -> None:
    assert check_answer(["8.8.8.8", "1.1.1.1", "8.8.8.8", "2606:4700:4700::1111"]) == (
        "8.8.8.8",
        "1.1.1.1",
        "2606:4700:4700::1111",
    )
    many = [f"8.8.{number}.8" for number in range(40)]
    assert check_answer(many) == tuple(many[:ADDRESSES_MAX])
    assert check_answer([*many, "127.0.0.1"]) is None


def test_another_rule_can_be_given() -> None:
    assert check_answer(["127.0.0.1"], lambda address: address == "127.0.0.1") == ("127.0.0.1",)
    assert check_answer(["127.0.0.2"], lambda address: address == "127.0.0.1") is None
    assert check_answer([], lambda address: True) is None
