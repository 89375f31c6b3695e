"""Answers to calls that no handler of this node answers, because they belong to another node."""

from collections.abc import Callable
from typing import Final

from pgs.domain.errors import refuse
from pgs.http.api.endpoint import Answer, Endpoint
from pgs.http.api.failures import NO_NODE
from pgs.http.api.responses import (
    INTERNAL_MESSAGE,
    JSON_TYPE,
    NOTHING_HERE,
    body_of,
    encode,
    render,
    wrong_method,
)
from pgs.http.api.routes import Routes
from pgs.http.transport.direct import DirectAnswer
from pgs.http.transport.heads import is_under

_CALLS: Final = ("/partner", "/game")
_FRAMES: Final = ("/embed", "/portal/frame")


def answer_unhandled(
    routes: Routes, base_url: str, method: str, path: bytes, choose: Callable[[Endpoint], Answer]
) -> DirectAnswer:
    """Return the answer to a call that has no handler here: JSON, or no body for a frame.

    `choose` returns the answer of an endpoint. A method that an endpoint's path does not take is
    answered 405. A path that is no endpoint's is answered 404 under `/partner` and `/game`, and 500
    elsewhere.
    """
    text = path.decode("latin-1")
    if any(is_under(text, root) for root in _FRAMES):  # the browser would show a body
        return DirectAnswer(500, ((b"content-type", b"text/plain"),), b"")
    found = routes.find(path)
    if found is None:
        if any(is_under(text, root) for root in _CALLS):
            return _plain(404, NOTHING_HERE)
        return _plain(500, INTERNAL_MESSAGE)
    methods, _ = found
    endpoint = methods.get(method)
    if endpoint is None:
        message, headers = wrong_method(sorted(methods))
        return _plain(405, message, *headers)
    response = render(endpoint, choose(endpoint), base_url)
    return DirectAnswer(response.status, (JSON_TYPE,), encode(response.body))


def refuse_unserved_handshake(base_url: str) -> DirectAnswer:
    """Return the answer to a handshake of a player whom no node serves now."""
    body = body_of(refuse("registry_unavailable").saying(NO_NODE), base_url)
    return DirectAnswer(503, (JSON_TYPE,), encode(body))


def _plain(status: int, message: str, *headers: tuple[bytes, bytes]) -> DirectAnswer:
    return DirectAnswer(status, (JSON_TYPE, *headers), encode({"error": message}))
