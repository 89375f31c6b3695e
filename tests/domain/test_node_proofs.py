import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs.domain.keyring import KeyRing, new_ring, with_new_key
from pgs.domain.node_proofs import (
    PROOF_MAX,
    id_of_forwarded,
    is_command,
    prove_command,
    prove_forward,
)

RING = new_ring(b"k" * 6, b"s" * 32)
OTHER = new_ring(b"k" * 6, b"t" * 32)
REQUEST = ("n2", "POST", b"/partner/matches?x=1", b"Bearer pgs_test_abc")


def prove(ring: KeyRing) -> str:
    return prove_forward(ring, REQUEST[0], "req_1", *REQUEST[1:])


def test_a_request_that_a_node_forwarded_is_recognised_and_keeps_its_id() -> None:
    proof = prove(RING)
    assert id_of_forwarded(RING, proof, *REQUEST) == "req_1"
    assert len(proof) <= PROOF_MAX


def test_a_proof_made_before_a_rotation_of_the_ring_is_valid() -> None:
    rotated = with_new_key(RING, b"n" * 6, b"u" * 32)
    assert id_of_forwarded(rotated, prove(RING), *REQUEST)


@pytest.mark.parametrize(
    "other",
    [
        ("n3", *REQUEST[1:]),
        ("n2", "GET", *REQUEST[2:]),
        ("n2", "POST", b"/partner/matches", REQUEST[3]),
        (*REQUEST[:3], b"Bearer pgs_test_abd"),
    ],
)
def test_a_proof_is_valid_for_no_other_request(other: tuple[str, str, bytes, bytes]) -> None:
    assert not id_of_forwarded(RING, prove(RING), *other)


def test_a_proof_made_with_another_ring_is_refused() -> None:
    assert not id_of_forwarded(OTHER, prove(RING), *REQUEST)


def test_a_proof_is_valid_for_no_other_id() -> None:
    proof = prove(RING)
    assert not id_of_forwarded(RING, proof.replace("req_1", "req_2"), *REQUEST)
    assert not id_of_forwarded(RING, proof.removesuffix(".req_1"), *REQUEST)


@given(st.text(max_size=200))
def test_no_other_text_is_taken_for_a_proof(text: str) -> None:
    assert not id_of_forwarded(RING, text, *REQUEST)


def test_a_target_with_a_line_feed_has_no_proof_of_another_request() -> None:
    ring: KeyRing = RING
    proof = prove_forward(ring, "n2", "req_1", "GET", b"/a\n/b", b"")
    assert not id_of_forwarded(ring, proof, "n2", "GET", b"/a", b"")


COMMAND = ("n2", "/nodes/commands", b"the body")


def test_a_command_of_another_node_is_recognised() -> None:
    proof = prove_command(RING, *COMMAND)
    assert is_command(RING, proof, *COMMAND)
    assert len(proof) <= PROOF_MAX
    assert not is_command(OTHER, proof, *COMMAND)


@pytest.mark.parametrize(
    "other",
    [("n3", *COMMAND[1:]), ("n2", "/nodes", COMMAND[2]), (*COMMAND[:2], b"another body")],
)
def test_the_proof_of_a_command_is_valid_for_no_other(other: tuple[str, str, bytes]) -> None:
    assert not is_command(RING, prove_command(RING, *COMMAND), *other)


def test_the_proof_of_a_request_is_not_valid_for_a_command() -> None:
    assert not is_command(RING, prove(RING), *COMMAND)
    assert not id_of_forwarded(RING, prove_command(RING, *COMMAND), *REQUEST)


def test_a_command_and_a_request_of_the_same_signed_text_have_different_proofs() -> None:
    credential, body = b"Bearer pgs_test_abc", b"the body"
    path = f"req_1\nPOST\n{hashlib.sha256(credential).hexdigest()}"
    target = hashlib.sha256(body).hexdigest().encode()
    command, request = ("n2", path, body), ("n2", "POST", target, credential)
    assert not id_of_forwarded(RING, f"{prove_command(RING, *command)}.req_1", *request)
    proof = prove_forward(RING, "n2", "req_1", "POST", target, credential)
    assert not is_command(RING, proof.removesuffix(".req_1"), *command)


def test_text_beyond_ascii_after_the_id_of_a_known_key_is_no_proof() -> None:
    text = f"{RING.current.kid}.é"
    assert not id_of_forwarded(RING, f"{text}.req_1", *REQUEST)
    assert not is_command(RING, text, *COMMAND)


@given(st.text(max_size=200))
def test_no_other_text_is_taken_for_the_proof_of_a_command(text: str) -> None:
    assert not is_command(RING, text, *COMMAND)
