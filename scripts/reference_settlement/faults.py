"""Faults on demand: how often each happens, and which requests it hits."""

import re
from collections.abc import Iterable
from random import Random

import msgspec

KINDS = {
    "slow": "the request takes so many seconds (by default 1)",
    "500": "an answer of status 500, before or after it acted",
    "garbage": "it acts, and answers something that the interface does not know",
    "cut-before": "the connection closes before it acts",
    "cut-after": "it acts, and the connection closes without an answer",
    "pending": "a new charge or payout is pending, for up to so many seconds (by default 60)",
    "decline": "a new charge is declined",
    "out-of-order": "the answer is held until a later request was answered, for up to 1 s",
    "twice": "the answer is sent twice",
}

_FAULT = re.compile(r"([a-z0-9-]+)=(0(?:\.[0-9]+)?|1(?:\.0+)?)(?::([0-9]+(?:\.[0-9]+)?))?")
_SECONDS = {"slow": 1.0, "pending": 60.0}


class Fault(msgspec.Struct, frozen=True):
    """How often a fault happens, from 0 to 1, and for how many seconds at most."""

    share: float
    seconds: float


class BadFault(ValueError):
    """A text that names no fault."""


def parse(texts: Iterable[str]) -> dict[str, Fault]:
    """Return the faults that texts such as `slow=0.1:0.5` name. Raises `BadFault`."""
    faults = {}
    for text in texts:
        found = _FAULT.fullmatch(text)
        if found is None or found[1] not in KINDS:
            raise BadFault(f"{text} is no fault: write NAME=SHARE or NAME=SHARE:SECONDS")
        name, share, seconds = found.groups()
        faults[name] = Fault(float(share), float(seconds or _SECONDS.get(name, 0.0)))
    return faults


class Luck:
    """Decides by its seed which request meets which fault."""

    def __init__(self, faults: dict[str, Fault], seed: int) -> None:
        self.faults = faults
        self._random = Random(seed)

    def hits(self, name: str) -> bool:
        """Return whether a request meets a fault."""
        fault = self.faults.get(name)
        return fault is not None and self._random.random() < fault.share

    def seconds(self, name: str) -> float:
        """Return how long a fault lasts: its seconds, or for `pending` a random part of them."""
        fault = self.faults[name]
        return fault.seconds * (self._random.random() if name == "pending" else 1.0)

    def coin(self) -> bool:
        """Return True or False."""
        return self._random.random() < 0.5

    def garbage(self) -> bytes:
        """Return something that is no answer of the interface."""
        return self._random.choice(
            (
                _answer(200, b"<html>It works!</html>"),
                _answer(200, b'{"status":"done"}'),
                _answer(200, b'{"status":null}'),
                _answer(200, b'["confirmed"]'),
                _answer(200, b'{"status":"confirmed"' + b" " * 8192 + b"}"),
                _answer(204, b""),
                _answer(302, b""),
                b"\x16\x03\x01\x02\x00\x01",
                b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{",
            )
        )


def _answer(status: int, body: bytes) -> bytes:
    return b"HTTP/1.1 %d X\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s" % (
        status,
        len(body),
        body,
    )
