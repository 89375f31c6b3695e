"""What the service answers, as frozen dataclasses.

Amounts are whole US cents, times are epoch seconds. A field that is None is not set or not known
yet; it never means 0. `raw` is the object as it was sent, with the fields that this release does
not know. Texts such as `status` may have values that are newer than this release.
"""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from types import UnionType
from typing import Any, Generic, NamedTuple, Self, TypeVar, get_args

Json = Mapping[str, Any]
T = TypeVar("T")


class Unreadable(ValueError):
    """An object lacks a field, or a field has another type. The message names the field."""


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


class _Field(NamedTuple):
    name: str
    wire: str
    kind: type | None  # str, int or bool; None for a type that is not checked
    nullable: bool
    optional: bool


@cache
def _shape(record: Any) -> tuple[_Field, ...]:
    """Return the fields of a record that are read as they were sent."""
    shape = []
    for each in fields(record):
        if each.name == "raw" or "nested" in each.metadata:
            continue
        kinds = get_args(each.type) if isinstance(each.type, UnionType) else (each.type,)
        nullable = type(None) in kinds
        plain = [kind for kind in (str, int, bool) if kind in kinds]
        optional = each.default is not MISSING
        shape.append(
            _Field(each.name, _camel(each.name), next(iter(plain), None), nullable, optional)
        )
    return tuple(shape)


@dataclass(frozen=True, kw_only=True)
class Record:
    """An object of the service. `raw` is hidden from `repr`, since it may hold a token."""

    raw: Json = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def read(cls, sent: object) -> Self:
        """Return the record of a JSON object. Raises `Unreadable`; extra fields are kept in raw."""
        if not isinstance(sent, Mapping):
            raise Unreadable(f"{cls.__name__} is not an object")
        values: dict[str, Any] = {"raw": sent}
        # mypy takes a class of type `type[Self]` for unhashable.
        for name, wire, kind, nullable, optional in _shape(cls):  # type: ignore[arg-type]
            value = sent.get(wire)
            if value is None and not (optional or (nullable and wire in sent)):
                raise Unreadable(f"{cls.__name__} has no {wire}")
            if value is not None and kind is not None and type(value) is not kind:
                raise Unreadable(f"{wire} of {cls.__name__} has another type")
            values[name] = value
        return cls(**values, **cls._nested(sent))

    @classmethod
    def _nested(cls, sent: Json) -> dict[str, Any]:
        return {}


def read_list(kind: type[Record], sent: Json, wire: str) -> tuple[Any, ...]:
    """Return the records of a list. Raises `Unreadable`."""
    listed = sent.get(wire)
    if not isinstance(listed, Sequence) or isinstance(listed, str):
        raise Unreadable(f"there is no list {wire}")
    return tuple(kind.read(each) for each in listed)


@dataclass(frozen=True, kw_only=True)
class Webhook(Record):
    """The state of the account's endpoint, without its secret."""

    url: str
    enabled: bool
    consecutive_failures: int
    created_at: int
    secret_rotated_at: int
    disabled_at: int | None = None


@dataclass(frozen=True, kw_only=True)
class Account(Record):
    """The account of the key. `prices`: cents by tier id, for the tiers that have a price."""

    partner_id: str
    name: str
    api_version: int
    environment: str
    games: Sequence[str]
    origins: Sequence[str]
    prices: Mapping[str, int]
    webhook: Webhook | None = field(default=None, metadata={"nested": True})

    @classmethod
    def _nested(cls, sent: Json) -> dict[str, Any]:
        webhook = sent.get("webhook")
        return {} if webhook is None else {"webhook": Webhook.read(webhook)}


@dataclass(frozen=True, kw_only=True)
class Tier(Record):
    """What a seat costs and what the winner gets."""

    tier_id: str
    name: str
    entry_usd_cents: int
    floor_usd_cents: int
    prize_usd_cents: int
    priced: bool


@dataclass(frozen=True, kw_only=True)
class Gate(Record):
    """A condition of a seat. `reason`: the code with which seats are refused while `ok` is false.

    Some gates only advise: they have no `reason` and stop nothing.
    """

    gate: str
    ok: bool
    reason: str | None = None
    advice: str | None = None
    change_it_at: str | None = None


@dataclass(frozen=True, kw_only=True)
class Readiness(Record):
    """Every gate between the account and a seat at a game. `ready`: no gate stops a seat."""

    environment: str
    game_id: str
    ready: bool
    gates: Sequence[Gate] = field(default=(), metadata={"nested": True})

    @classmethod
    def _nested(cls, sent: Json) -> dict[str, Any]:
        return {"gates": read_list(Gate, sent, "gates")}


@dataclass(frozen=True, kw_only=True)
class Session(Record):
    """A session for one player's frame. The page needs `embed_url` and `session_token`."""

    session_token: str = field(repr=False)
    environment: str
    game_id: str
    player_id: str
    player_uid: str
    issued_at: int
    expires_at: int
    embed_url: str
    game_socket_url: str


@dataclass(frozen=True, kw_only=True)
class Seat(Record):
    """A seat as it is now. `replayed`: whether an earlier call with the same key has taken it.

    `status`: pending, waiting, matched, ended, no_contest or declined. `match_id` is None while the
    seat is pending, waiting or declined; a seat that ends without an opponent gets a match of its
    own.
    """

    seat_id: str
    match_id: str | None
    status: str
    stake_status: str
    environment: str
    game_id: str
    tier_id: str
    player_id: str
    stake_usd_cents: int
    prize_usd_cents: int
    idempotency_key: str
    seated_at: int | None = None
    expires_at: int | None = None
    partner_ref: str | None = None
    replayed: bool = field(default=False, metadata={"nested": True})


@dataclass(frozen=True, kw_only=True)
class MatchSeat(Record):
    """One side of a match. The amounts that it received are None until the money is recorded."""

    seat_id: str
    player_id: str
    stake_usd_cents: int
    result: str | None = None
    score: int | None = None
    payout_usd_cents: int | None = None
    refund_usd_cents: int | None = None
    rake_usd_cents: int | None = None
    partner_ref: str | None = None


@dataclass(frozen=True, kw_only=True)
class Match(Record):
    """A match as it is now. `status`: started, ended or no_contest."""

    match_id: str
    environment: str
    game_id: str
    tier_id: str
    status: str
    prize_usd_cents: int
    end_reason: str | None = None
    started_at: int | None = None
    ended_at: int | None = None
    seats: Sequence[MatchSeat] = field(default=(), metadata={"nested": True})

    @classmethod
    def _nested(cls, sent: Json) -> dict[str, Any]:
        return {"seats": read_list(MatchSeat, sent, "seats")}


@dataclass(frozen=True, kw_only=True)
class Row(Record):
    """A row of the results feed, the only source of truth for what became of a match.

    It is keyed by `match_id` and `player_id`, and it replaces a row with a lower `revision`.
    """

    match_id: str
    player_id: str
    seat_id: str
    idempotency_key: str
    game_id: str
    tier_id: str
    outcome: str
    stake_usd_cents: int
    updated_at: int
    revision: int
    opponent_player_id: str | None = None
    partner_ref: str | None = None
    result: str | None = None
    end_reason: str | None = None
    score: int | None = None
    payout_usd_cents: int | None = None
    refund_usd_cents: int | None = None
    rake_usd_cents: int | None = None
    started_at: int | None = None
    ended_at: int | None = None

    @property
    def is_paid(self) -> bool:
        """Whether the money is recorded."""
        return self.payout_usd_cents is not None


@dataclass(frozen=True, kw_only=True)
class Invoice(Record):
    """An invoice. A draft has no number, no total and no lines yet."""

    invoice_id: str
    environment: str
    status: str
    period_from: str
    period_to: str
    number: int | None = None
    total_usd_cents: int | None = None
    line_count: int | None = None
    created_at: int | None = None
    finalized_at: int | None = None
    due_at: int | None = None
    paid_at: int | None = None
    voided_at: int | None = None


@dataclass(frozen=True, kw_only=True)
class InvoiceLine(Record):
    """The rake of the matches of one day, at one game and tier."""

    line_id: str
    day: str
    game_id: str
    tier_id: str
    description: str
    matches: int
    amount_usd_cents: int


@dataclass(frozen=True, kw_only=True)
class InvoicedMatch(Record):
    """A match that a line of an invoice bills."""

    match_id: str
    ended_at: int
    rake_usd_cents: int


@dataclass(frozen=True)
class Page(Generic[T]):
    """A page of a list. `next_cursor` leads to the next page; in the feed it is never None.

    `took_s`: seconds that the call took.
    """

    items: tuple[T, ...]
    next_cursor: str | None
    has_more: bool
    took_s: float = 0.0


@dataclass(frozen=True)
class Answer:
    """An answer. Header names are in lower case. `took_s`: seconds that the call took."""

    status: int
    headers: Mapping[str, str]
    content: bytes
    took_s: float = 0.0
