"""The sources of the frame's document: the package, or an upstream that the operator configured.

Each gives a template with the marks `NONCE_MARK` and `DATA_MARK` of `pgs.http.embed.policy`.
"""

from collections.abc import Mapping
from typing import Final, Protocol

import structlog
import trio

from pgs.http.outbound.fetch import NotFetched

FRESH_S: Final = 30.0
"""Seconds for which a fetched frame document is served. They are few, so that a new document soon
reaches players, but enough that a burst of players costs the upstream one call."""

RETRY_S: Final = 1.0
"""Seconds between a failed try and the next. Without this pause, each player's request would call
a server that is down."""

log = structlog.get_logger("pgs.embed")


class NoFrame(Exception):
    """There is nothing to serve: no frame was built, and no upstream is configured."""


class Frame(Protocol):
    """Gives the document as a template, in which the marks are not replaced yet."""

    async def template(self, language: str) -> str:
        """Return the template for a language. Raises `NoFrame` and `NotFetched`."""
        ...


class BundledFrame:
    """The documents in the package, by language."""

    def __init__(self, templates: Mapping[str, str]) -> None:
        self._templates = templates

    async def template(self, language: str) -> str:
        """Return the template for a language. Raises `NoFrame` if there is none."""
        found = self._templates.get(language)
        if found is None:
            raise NoFrame
        return found


class Fetcher(Protocol):
    """The part of `JsonClient` that is used here."""

    async def fetch(self, url: str, *, accept: str = ...) -> tuple[int, bytes]:
        """Return status and body. Raises NotFetched."""
        ...


class UpstreamFrame:
    """The document at an address, the same for all languages. It is kept for `FRESH_S`.

    Only one fetch runs at a time; other callers wait for it.
    """

    def __init__(self, url: str, client: Fetcher) -> None:
        self._url = url
        self._client = client
        self._kept: str | NotFetched = NotFetched("nothing was fetched yet")
        self._until = -1.0
        self._fetched: trio.Event | None = None

    async def template(self, language: str) -> str:
        """Return the template, whatever the language.

        Raises NotFetched. For `RETRY_S` after a failure, it raises the same error again without a
        fetch.
        """
        if trio.current_time() >= self._until:
            if self._fetched is not None:
                await self._fetched.wait()
            else:
                await self._renew()
        if isinstance(self._kept, NotFetched):
            raise NotFetched(self._kept.reason)
        return self._kept

    async def _renew(self) -> None:
        done = self._fetched = trio.Event()
        kept: str | NotFetched = NotFetched("the call was given up")
        try:
            kept = await self._fetch()
        except NotFetched as error:
            log.warning("frame_not_fetched", reason=error.reason)
            kept = error
        finally:
            self._kept = kept
            self._until = trio.current_time() + (FRESH_S if isinstance(kept, str) else RETRY_S)
            self._fetched = None
            done.set()

    async def _fetch(self) -> str:
        status, body = await self._client.fetch(self._url, accept="text/html")
        if status != 200:
            raise NotFetched(f"the response has status {status}")
        try:
            return body.decode("utf-8")
        except UnicodeDecodeError:
            raise NotFetched("the response is not UTF-8") from None
