"""The example receiver accepts nudges over TLS, and tells valid signatures from invalid ones."""

import importlib.util
import os
import re
import ssl
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from subprocess import PIPE, STDOUT
from types import ModuleType

import pytest
import trio
import trustme

from pgs.clock import SystemClock
from pgs.domain.nudges import (
    SIGNATURE_HEADER,
    TryOutcome,
    nudge_body,
    signature_header,
    verify_signature,
)
from pgs.http.outbound.tries import Outbound
from tests.conventions.tree import ROOT
from tests.loopback import LoopbackNames
from tests.patience import PATIENCE_S

SCRIPT = ROOT / "examples" / "receive_webhooks.py"
PYTHON = [sys.executable, "-I", "-S"]  # the standard library alone
SECRET = "whsec_" + "s" * 43


class _Running:
    """A receiver in its own process, and the lines that it prints."""

    def __init__(
        self,
        process: trio.Process,
        lines: trio.MemoryReceiveChannel[str],
        port: int,
        outbound: Outbound,
    ) -> None:
        self.process, self.lines, self._port, self._outbound = process, lines, port, outbound

    async def send(self, body: bytes, headers: dict[str, str]) -> TryOutcome:
        return await self._outbound.post(
            f"https://receiver.localhost:{self._port}/hook", body, headers
        )


async def _read_lines(stream: trio.abc.ReceiveStream, lines: trio.MemorySendChannel[str]) -> None:
    rest = b""
    async with lines:
        async for part in stream:
            *whole, rest = (rest + part).split(b"\n")
            for line in whole:
                await lines.send(line.decode())


@asynccontextmanager
async def _receiver(folder: Path, *options: str) -> AsyncIterator[_Running]:
    authority = trustme.CA()
    certificate, secret = folder / "chain.pem", folder / "secret.txt"
    authority.issue_cert("receiver.localhost").private_key_and_cert_chain_pem.write_to_path(
        certificate
    )
    secret.write_text(f"{SECRET}\n", encoding="utf-8")
    command: list[str | Path] = [
        *PYTHON,
        SCRIPT,
        "--port",
        "0",
        "--certificate",
        certificate,
        "--secret-file",
        secret,
        *options,
    ]
    trust = ssl.create_default_context(cadata=authority.cert_pem.bytes().decode())
    before = trio.socket.set_custom_hostname_resolver(LoopbackNames())
    try:
        with trio.fail_after(PATIENCE_S):
            async with trio.open_nursery() as nursery:
                process = await trio.lowlevel.open_process(command, stdout=PIPE, stderr=STDOUT)
                assert process.stdout is not None
                into, lines = trio.open_memory_channel[str](100)
                nursery.start_soon(_read_lines, process.stdout, into)
                try:
                    listening = re.fullmatch(
                        r"\d\d:\d\d:\d\d listening on https://127\.0\.0\.1:(\d+)",
                        await lines.receive(),
                    )
                    assert listening
                    yield _Running(
                        process,
                        lines,
                        int(listening[1]),
                        Outbound(trust, lambda address: address == "127.0.0.1"),
                    )
                finally:
                    process.terminate()
                    await process.wait()
    finally:
        trio.socket.set_custom_hostname_resolver(before)


async def test_the_receiver_accepts_signed_nudges_and_refuses_other_requests(
    tmp_path: Path,
) -> None:
    now = SystemClock().now()
    body = nudge_body("acme", now)
    signed = signature_header(SECRET, now, body)
    async with _receiver(tmp_path) as receiver:
        outcome = await receiver.send(body, {SIGNATURE_HEADER: signed})
        assert (outcome.status, outcome.error, outcome.response_body) == (200, None, "ok\n")
        assert (await receiver.lines.receive()).endswith(
            f" verified  results.available for acme, sent at {now}  (answered 200)"
        )
        assert (await receiver.send(body + b" ", {SIGNATURE_HEADER: signed})).status == 400
        assert "REFUSED   the signature is not valid" in await receiver.lines.receive()
        assert (await receiver.send(body, {})).status == 400
        assert "REFUSED   no signature" in await receiver.lines.receive()
        old = nudge_body("acme", now - 400)
        assert (
            await receiver.send(old, {SIGNATURE_HEADER: signature_header(SECRET, now - 400, old)})
        ).status == 400
        assert "REFUSED" in await receiver.lines.receive()
        odd = b'"\x1b[2J"'
        assert (
            await receiver.send(odd, {SIGNATURE_HEADER: signature_header(SECRET, now, odd)})
        ).status == 200
        assert "signed, but not a nudge" in await receiver.lines.receive()
        assert (await receiver.send(b"x" * 70_000, {})).status in (413, None)
        assert "too long  (answered 413)" in await receiver.lines.receive()


async def test_the_receiver_can_answer_with_a_failure(tmp_path: Path) -> None:
    now = SystemClock().now()
    body = nudge_body("acme", now)
    async with _receiver(tmp_path, "--status", "503") as receiver:
        assert (
            await receiver.send(body, {SIGNATURE_HEADER: signature_header(SECRET, now, body)})
        ).status == 503
        assert (await receiver.lines.receive()).endswith("(answered 503)")


@pytest.mark.parametrize("secret", ["", "secret", None])
async def test_the_receiver_does_not_start_without_a_secret(secret: str | None) -> None:
    environment = {
        name: value for name, value in os.environ.items() if name != "PGS_WEBHOOK_SECRET"
    }
    if secret is not None:
        environment["PGS_WEBHOOK_SECRET"] = secret
    with trio.fail_after(PATIENCE_S):
        done = await trio.run_process(
            [*PYTHON, SCRIPT, "--port", "0"], env=environment, capture_stderr=True, check=False
        )
    assert done.returncode == 2
    assert b"no signing secret" in done.stderr


def _load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("receive_webhooks", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_receivers_verifier_agrees_with_the_services() -> None:
    verifies = _load().signature_is_valid
    header = signature_header(SECRET, 1_000, b"{}")
    for sent, body, now in [
        (header, b"{}", 1_300),
        (header, b"{}", 1_301),
        (header, b"{ }", 1_000),
        (header[:-1], b"{}", 1_000),
        ("", b"{}", 0),
    ]:
        assert verifies(SECRET, sent, body, now) is verify_signature(SECRET, sent, body, now)


def test_the_receivers_verifier_accepts_only_what_the_service_signs() -> None:
    verify = _load().signature_is_valid
    now = SystemClock().now()
    body = nudge_body("acme", now)
    header = signature_header(SECRET, now, body)
    assert verify(SECRET, header, body)
    assert not verify(SECRET, header, body + b" ")
    assert not verify(SECRET[:-1] + "B", header, body)
    for at in (now - 400, now + 400):
        assert not verify(SECRET, signature_header(SECRET, at, body), body)
    for header in ("", "t=", "v1=", f"t={now}", "t=²,v1=ä", f"t={'1' * 5000},v1=0"):
        assert not verify(SECRET, header, body)
