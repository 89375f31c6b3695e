"""An operator of a data folder, with and without a running service."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from pgs.operator.unix_socket import is_running
from tests.operator.support import Operator, prepare, serving


@pytest.fixture(params=["running", "stopped"])
def served(request: pytest.FixtureRequest) -> bool:
    """Whether a service runs on the data folder."""
    return bool(request.param == "running")


@pytest.fixture
async def operator(tmp_path: Path, served: bool) -> AsyncIterator[Operator]:
    """An operator of a folder with the partner `acme`: ann and bob play a match, cleo waits."""
    await prepare(tmp_path, "ann", "bob", "cleo")
    async with AsyncExitStack() as stack:
        if served:
            await stack.enter_async_context(serving(tmp_path))
        assert is_running(tmp_path) == served
        yield Operator(tmp_path)
