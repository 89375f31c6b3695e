"""Prints the demo's story: headings, text, calls and answers."""

from collections.abc import Sequence
from datetime import UTC, datetime
from textwrap import indent
from typing import Any

import msgspec
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pgs.demo.backend import Exchange
from pgs.demo.bots import Played
from pgs.demo.inbox import Received
from pgs.domain.plurals import counted

_SHOWN_CHARS = 48
"""Characters of one text that the terminal shows. Tokens and cursors have hundreds."""

_PATH_CHARS = 72
"""Characters of a path that the terminal shows, so that a line does not wrap."""

_BODY_BYTES = 200
"""Bytes of a received call that the terminal shows. A nudge has fewer than 110."""

_FEED_FIELDS = (
    "outcome",
    "result",
    "stakeUsdCents",
    "payoutUsdCents",
    "refundUsdCents",
    "rakeUsdCents",
    "revision",
)


class Teller:
    """Prints to one console, and numbers the steps."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._step = 0
        self._matches = 0

    def step(self, title: str, words: str) -> None:
        """Begin a step with a heading and a text about it."""
        self._step += 1
        self._console.print()
        self._console.rule(Text(f"{self._step}. {title}", style="bold"), align="left")
        self._console.print(Text(words))

    def say(self, words: str) -> None:
        """Print a text."""
        self._console.print(Text(words))

    def call(self, exchange: Exchange) -> None:
        """Print a call with its body, and the answer's status."""
        self._console.print(
            Text.assemble(
                ("→ ", "cyan"),
                (exchange.method, "bold cyan"),
                " ",
                _cut(exchange.path, _PATH_CHARS),
            ),
            soft_wrap=True,
        )
        if exchange.sent is not None:
            self._json(exchange.sent)
        style = "green" if exchange.status < 300 else "yellow"
        self._console.print(Text.assemble(("← ", style), (str(exchange.status), f"bold {style}")))

    def exchange(self, exchange: Exchange) -> None:
        """Print a call and its whole answer."""
        self.call(exchange)
        self._json(exchange.received)

    def feed(self, exchange: Exchange) -> None:
        """Print a call for the feed and its rows as a table, with a column for each player."""
        self.call(exchange)
        rows: Sequence[dict[str, Any]] = exchange.received["results"]
        table = Table("", *(row["playerId"] for row in rows))
        for field in _FEED_FIELDS:
            table.add_row(field, *(str(row.get(field, "(absent)")) for row in rows))
        self._console.print(Padding(table, (0, 0, 0, 2), expand=False))

    def nudge(self, received: Received) -> None:
        """Print a received nudge: its time, signature and body, and whether it is valid."""
        arrived = datetime.fromtimestamp(received.arrived_ms / 1000, UTC).strftime("%H:%M:%S.%f")[
            :-3
        ]
        body = received.body[:_BODY_BYTES].decode("utf-8", "replace")
        holds = received.problem is None
        self._console.print(
            Text.assemble(
                ("⇐ ", "magenta"), ("nudge", "bold magenta"), "  arrived ", f"{arrived} UTC"
            )
        )
        self._console.print(
            Text(f"  X-Service-Signature: {_cut(received.signature, _SHOWN_CHARS)}", style="dim"),
            soft_wrap=True,
        )
        self._console.print(Text(f"  {body}", style="dim"), soft_wrap=True)
        verdict = (
            "verified: the signature is valid and recent"
            if holds
            else f"REFUSED: {received.problem}"
        )
        self._console.print(Text(f"  {verdict}", style="green" if holds else "bold red"))

    def nudge_briefly(self, received: Received) -> None:
        """Print a received nudge in one line: its time, and whether it is valid."""
        holds = received.problem is None
        arrived = datetime.fromtimestamp(received.arrived_ms / 1000, UTC).strftime("%H:%M:%S")
        self._console.print(
            Text.assemble(
                ("⇐ nudge ", "magenta"),
                (f"{arrived} {received.problem or 'verified'}", "dim" if holds else "red"),
            )
        )

    def match(self, game: str, first: str, second: str, played: Played) -> None:
        """Print a match of bots in one line; `played` is the match as the first player saw it."""
        self._matches += 1
        verb = {"won": "won against", "lost": "lost to", "drawn": "drew with"}.get(
            played.result or "", "had no contest with"
        )
        style = {"won": "green", "lost": "yellow"}.get(played.result or "", "")
        how = f"{played.end_reason or played.outcome}, {counted(played.ply, 'move')}"
        self._console.print(
            Text.assemble(
                (f"■ {self._matches:>4}  ", "cyan"),
                f"{game:<13} ",
                (f"{first} {verb} {second}", style),
                (f"  {how}", "dim"),
            )
        )

    def paste(self, line: str) -> None:
        """Print a shell line without wrapping it, however wide the terminal is."""
        self._console.print(Text(line), soft_wrap=True)

    def unexpected(self, words: str) -> None:
        """Print an error."""
        self._console.print(Text(words, style="bold red"))

    def _json(self, value: Any) -> None:
        text = msgspec.json.format(msgspec.json.encode(_shortened(value))).decode()
        self._console.print(Text(indent(text, "  "), style="dim"))


def _shortened(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _shortened(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_shortened(inner) for inner in value]
    return _cut(value, _SHOWN_CHARS) if isinstance(value, str) else value


def _cut(text: str, chars: int) -> str:
    return text if len(text) <= chars else f"{text[:chars]}…"
