"""Makes the heads of the lane's responses from templates, which are kept."""

from email.utils import formatdate
from http import HTTPStatus
from math import inf
from typing import Final

from pgs.http.transport.direct import DirectAnswer
from pgs.http.transport.heads import REQUEST_ID, is_under, stamp

_STATUS_LINES: Final = {
    status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus
}

_ROOTS: Final = ("/partner", "/embed")

_DATE_S: Final = 1.0
"""Seconds for which a `Date` header is used again. Its value has whole seconds."""

TEMPLATES_MAX: Final = 256
"""Templates of responses that are kept. The interface has some dozens of kinds of answers."""

_SLOT: Final = b"\0%d"
"""Stands for a value while a template is made. No value of a header has a NUL."""


def root_of(path: str) -> str:
    """Return `/partner` or `/embed`, whichever contains the path, else `/`.

    The headers that `stamp` adds depend on it. They are different under `/portal` too, but the lane
    serves no path there.
    """
    return next((root for root in _ROOTS if is_under(path, root)), "/")


class ResponseHeads:
    """Puts heads before the contents of answers.

    Heads for the same status, root and names of headers, and with the same `last`, differ only in
    values. What they have in common is a template. At most `TEMPLATES_MAX` templates are kept.
    """

    def __init__(self, current_version: int) -> None:
        self._current_version = current_version
        self._templates: dict[tuple[int, str, bool, tuple[bytes, ...]], bytes] = {}
        self._date = b""
        self._date_until = -inf

    def with_head(
        self, answer: DirectAnswer, root: str, request_id: str, now: float, *, last: bool
    ) -> bytes:
        """Return the whole response, with the headers that every response at `root` carries.

        With `last` the head says that the connection ends. `now` is on trio's clock.
        """
        names, values = zip(*answer.headers, strict=True) if answer.headers else ((), ())
        kind = (answer.status, root, last, names)
        template = self._templates.get(kind)
        if template is None:
            template = self._template(*kind)
            if len(self._templates) < TEMPLATES_MAX:
                self._templates[kind] = template
        if now >= self._date_until:
            self._date_until = now + _DATE_S
            self._date = formatdate(usegmt=True).encode()
        content = answer.content
        return template % (*values, request_id.encode(), len(content), self._date, content)

    def _template(self, status: int, root: str, last: bool, names: tuple[bytes, ...]) -> bytes:
        """Return the whole response as a `%` format.

        It takes the values of `names`, the request id, the length, the date and the content.
        """
        stamped = stamp(
            [(name, _SLOT % at) for at, name in enumerate(names)],
            path=root,
            request_id="",
            current_version=self._current_version,
        )
        kept = {value: name for name, value in stamped if value.startswith(_SLOT[:1])}
        lines = [_STATUS_LINES[status]]
        for at in range(len(names)):
            name = kept.get(_SLOT % at)
            # `%.0b` takes a value and writes nothing: this header is not sent.
            lines.append(b"%.0b" if name is None else _escaped(name) + b": %b\r\n")
        lines.append(REQUEST_ID + b": %b\r\n")
        for name, value in stamped:
            if value not in kept and name != REQUEST_ID:
                lines.append(_escaped(b"%b: %b\r\n" % (name, value)))
        if last and b"connection" not in names:
            lines.append(b"connection: close\r\n")
        return b"".join([*lines, b"content-length: %d\r\ndate: %b\r\n\r\n%b"])


def _escaped(text: bytes) -> bytes:
    return text.replace(b"%", b"%%")
