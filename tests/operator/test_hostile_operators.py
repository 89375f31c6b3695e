"""Bad requests on the operator's socket, and what the service survives."""

from contextlib import suppress
from pathlib import Path

import pytest
import trio
from structlog.testing import capture_logs

from pgs.actors.core import Core
from pgs.actors.kernel.mail import Crashed, Degraded, Overloaded
from pgs.operator import execute as execution
from pgs.operator import unix_socket
from pgs.operator.command import NoArgs, OperatorCommand
from pgs.operator.commands import COMMANDS
from pgs.operator.messages import (
    MAX_REQUEST_BYTES,
    Answer,
    BadCall,
    Done,
    Failed,
    Refused,
    encode_request,
)
from pgs.operator.records import TierList
from pgs.operator.unix_socket import (
    ConnectionLost,
    call_operator,
    connect,
    read_line,
    serve_operator,
)
from pgs.storage.transactions import StoreOutage, WriterFull
from tests.operator.support import prepare, serving
from tests.operator.talking import LIST_TIERS, still_serves, talk
from tests.patience import PATIENCE_S

HOSTILE = {
    "nothing": b"\n",
    "no JSON": b"partner list\n",
    "no object": b"[]\n",
    "no command": b"{}\n",
    "a command that is no text": b'{"command":1}\n',
    "an unknown command": b'{"command":"partner.delete","args":{}}\n',
    "a long unknown command": b'{"command":"' + b"x" * 500 + b'"}\n',
    "an unknown member": b'{"command":"tier.list","args":{},"as":"root"}\n',
    "arguments that are no object": b'{"command":"tier.list","args":[]}\n',
    "an unknown argument": b'{"command":"tier.list","args":{"all":true}}\n',
    "a missing argument": b'{"command":"partner.show","args":{}}\n',
    "an argument of another type": b'{"command":"partner.show","args":{"partnerId":7}}\n',
    "an unknown environment": b'{"command":"tier.lock",'
    b'"args":{"environment":"prod","tierId":"t","gameId":"g"}}\n',
    "a number past every bound": b'{"command":"partner.set","args":{"partnerId":"a","burst":%s}}\n'
    % (b"9" * 400),
    "a fraction": b'{"command":"partner.set","args":{"partnerId":"acme","burst":1.5}}\n',
    "a NUL": b'{"command":"partner.show","args":{"partnerId":"a\\u0000b"}}\n',
    "half a surrogate pair": b'{"command":"partner.show","args":{"partnerId":"\\ud800"}}\n',
    "bad UTF-8": b'{"command":"partner.show","args":{"partnerId":"\xff"}}\n',
    "deep nesting": b'{"command":"tier.list","args":' + b"[" * 100_000 + b"\n",
    "UTF-16": '{"command":"tier.list"}'.encode("utf-16").replace(b"\n", b"") + b"\n",
    "HTTP": b"GET / HTTP/1.1\r\n",
}


@pytest.mark.parametrize("sent", HOSTILE.values(), ids=HOSTILE.keys())
async def test_a_bad_request_is_answered_with_a_failure(tmp_path: Path, sent: bytes) -> None:
    async with serving(tmp_path):
        answer = await talk(tmp_path, sent)
        assert list(answer) == ["failure"]
        assert answer["failure"]["error"]
        assert await still_serves(tmp_path)


async def test_an_endless_line_is_answered_and_its_connection_is_closed(tmp_path: Path) -> None:
    async with serving(tmp_path), await connect(tmp_path) as stream:
        await stream.send_all(b"x" * MAX_REQUEST_BYTES)
        with trio.fail_after(PATIENCE_S):
            assert b"failure" in (await read_line(stream, bytearray(), 1000) or b"")
            with suppress(trio.BrokenResourceError):
                assert await stream.receive_some() == b""
        assert await still_serves(tmp_path)


@pytest.mark.parametrize(
    "sent", [b"", b'{"command":"tier', LIST_TIERS], ids=["nothing", "half a line", "a request"]
)
async def test_a_caller_who_disconnects_does_not_disturb_the_service(
    tmp_path: Path, sent: bytes
) -> None:
    async with serving(tmp_path):
        for _ in range(unix_socket.MAX_CONNECTIONS + 1):
            stream = await connect(tmp_path)
            await stream.send_all(sent)
            await stream.aclose()
            await trio.testing.wait_all_tasks_blocked()
        assert await still_serves(tmp_path)


async def test_an_operator_over_the_limit_is_refused_until_another_one_leaves(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path):
        inside = [await connect(tmp_path) for _ in range(unix_socket.MAX_CONNECTIONS)]
        await trio.testing.wait_all_tasks_blocked()
        assert isinstance(await call_operator(tmp_path, "tier.list", NoArgs()), Failed)
        for stream in inside:
            await stream.aclose()
        await trio.testing.wait_all_tasks_blocked()
        assert await still_serves(tmp_path)


async def test_a_silent_connection_is_closed(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    async with serving(tmp_path, inline=True), await connect(tmp_path) as stream:
        await stream.send_all(b'{"command"')
        assert await stream.receive_some() == b""
        assert unix_socket.LINE_S <= trio.current_time() <= unix_socket.LINE_S + 1


async def test_the_log_names_the_command_and_not_its_arguments(tmp_path: Path) -> None:
    async with serving(tmp_path):
        with capture_logs() as logged:
            args = {"partnerId": "acme", "name": "Acme", "adminEmail": "ann@acme.example"}
            assert isinstance(await call_operator(tmp_path, "partner.create", args), Done)
            assert isinstance(await call_operator(tmp_path, "partner.create", args), Refused)
    told = [line for line in logged if line["event"] == "operator_command"]
    assert [(line["command"], line["answer"]) for line in told] == [
        ("partner.create", "done"),
        ("partner.create", "refused"),
    ]
    assert "ann@acme.example" not in str(logged)


async def test_a_bug_ends_its_own_connection_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(core: Core, line: bytes) -> Answer:
        raise LookupError("a bug")

    counted: list[str] = []
    async with serving(tmp_path, on_event=counted.append), await connect(tmp_path) as stream:
        with monkeypatch.context() as patched:
            patched.setattr(unix_socket, "execute", broken)
            await stream.send_all(LIST_TIERS)
            with trio.fail_after(PATIENCE_S):
                assert await stream.receive_some() == b""
        assert await still_serves(tmp_path)
    assert "operator_connection_crashed" in counted


async def test_a_command_is_carried_out_even_if_its_caller_disconnects(tmp_path: Path) -> None:
    await prepare(tmp_path, "ann", "bob")
    async with serving(tmp_path) as core:
        async with await connect(tmp_path) as stream:
            await stream.send_all(encode_request("partner.deactivate", {"partnerId": "acme"}))
        with trio.fail_after(PATIENCE_S):
            while not await _is_off_and_closed(core):
                await still_serves(tmp_path)


async def _is_off_and_closed(core: Core) -> bool:
    account = core.parts.registry.account("acme")
    scope = {"partner_id": "acme", "environment": "test"}
    open_play = await core.parts.database.reader.all(
        "matches.running_matches_after", **scope, after="", page_size=9
    )
    return account is not None and not account.active and not open_play


FAULTS = [
    (Overloaded("full"), "Nothing was done"),
    (WriterFull("full"), "Nothing was done"),
    (Degraded("broke too often"), "Nothing was done"),
    (Crashed("KeyError"), "may or may not"),
    (StoreOutage("disk full"), "disk full"),
    (ZeroDivisionError("secret"), "may or may not"),
]


@pytest.mark.parametrize(
    ("fault", "said"), FAULTS, ids=[type(fault).__name__ for fault, _ in FAULTS]
)
async def test_a_command_that_raises_says_what_was_done_and_the_service_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Exception, said: str
) -> None:
    async def broken(core: Core, args: NoArgs) -> TierList:
        raise fault

    breaks = OperatorCommand("test.break", NoArgs, TierList, broken)
    monkeypatch.setattr(execution, "COMMANDS", {**COMMANDS, "test.break": breaks})
    counted: list[str] = []
    async with serving(tmp_path, on_event=counted.append):
        answer = await call_operator(tmp_path, "test.break", NoArgs())
        assert isinstance(answer, Failed)
        assert said in answer.error
        assert "secret" not in answer.error
        assert await still_serves(tmp_path)
    is_bug = isinstance(fault, ZeroDivisionError)
    assert counted.count("operator_command_crashed") == is_bug


@pytest.mark.parametrize(
    "reply",
    [
        b"",
        b'{"result"',
        b"nonsense\n",
        b'{"other":{}}\n',
        b'{"failure":{}}\n',
        b'{"result":{},"failure":{}}\n',
    ],
)
async def test_a_connection_that_ends_without_an_answer_raises_connection_lost(
    tmp_path: Path, reply: bytes
) -> None:
    async def answer_badly(stream: trio.SocketStream) -> None:
        await stream.receive_some()
        await stream.send_all(reply)
        await stream.aclose()

    listener = trio.SocketListener(trio.socket.from_stdlib_socket(unix_socket.listen(tmp_path)))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, answer_badly, [listener])
        with pytest.raises(ConnectionLost):
            await call_operator(tmp_path, "tier.list", NoArgs())
        nursery.cancel_scope.cancel()


def test_a_request_that_cannot_be_encoded_is_not_sent() -> None:
    with pytest.raises(BadCall, match="Unicode"):
        encode_request("partner.show", {"partnerId": "\udcff"})
    with pytest.raises(BadCall, match="bytes"):
        encode_request("terms.publish", {"text": "x" * MAX_REQUEST_BYTES})


async def test_a_stopping_service_disconnects_its_operators(tmp_path: Path) -> None:
    with trio.fail_after(PATIENCE_S):
        async with serving(tmp_path):
            stream = await connect(tmp_path)
            await stream.send_all(LIST_TIERS)
            await stream.receive_some()
        with suppress(trio.BrokenResourceError):
            assert await stream.receive_some() == b""
        await stream.aclose()


def test_serving_a_folder_that_does_not_exist_raises(tmp_path: Path) -> None:
    async def serve_nowhere() -> None:
        # The core may be None here, because the call raises before it uses the core.
        await serve_operator(None, tmp_path / "nowhere")  # type: ignore[arg-type]

    with pytest.raises(FileNotFoundError):
        trio.run(serve_nowhere)
