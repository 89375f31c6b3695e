"""Work that is cancelled when its client leaves."""

import pytest
import trio

from pgs.http.api.body import read_body
from pgs.http.transport.asgi import ClientGone, Message, unless_gone


async def stays() -> Message:
    """Receive from a client that sends nothing more and does not leave."""
    await trio.sleep_forever()


async def never_ends() -> None:
    """Work without an end, until cancelled."""
    await trio.sleep_forever()


async def leaves() -> Message:
    """Receive from a client that leaves at once."""
    return {"type": "http.disconnect"}


async def test_work_for_a_client_that_stays_returns_its_result() -> None:
    async def work() -> int:
        await trio.lowlevel.checkpoint()
        return 7

    assert await unless_gone(work(), stays) == 7


async def test_work_raises_its_own_exception_and_no_group() -> None:
    async def work() -> None:
        await trio.lowlevel.checkpoint()
        raise KeyError("broken")

    with pytest.raises(KeyError, match="broken"):
        await unless_gone(work(), stays)


async def test_an_error_while_waiting_for_the_client_is_raised_unchanged() -> None:
    async def breaks() -> Message:
        raise OSError("no line")

    with pytest.raises(OSError, match="no line"):
        await unless_gone(never_ends(), breaks)


async def test_work_is_cancelled_when_its_client_leaves() -> None:
    cancelled = []

    async def work() -> None:
        try:
            await trio.sleep_forever()
        finally:
            cancelled.append(True)

    with pytest.raises(ClientGone):
        await unless_gone(work(), leaves)
    assert cancelled == [True]


async def test_a_cancelled_caller_stays_cancelled() -> None:
    with trio.CancelScope() as scope:
        scope.cancel()
        await unless_gone(never_ends(), stays)
    assert scope.cancelled_caught


async def test_reading_the_body_of_a_client_that_has_left_raises_client_gone() -> None:
    with pytest.raises(ClientGone):
        await read_body(leaves)
