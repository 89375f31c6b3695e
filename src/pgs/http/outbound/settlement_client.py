"""Calls the platform's settlement server over HTTP: charges, payouts, and look-ups of both."""

import re
from pathlib import Path
from typing import Final, cast, get_args

import msgspec

from pgs.actors.ports import ChargeAnswer, UndefinedAnswer
from pgs.config import BadSettings
from pgs.domain.errors import BadRequest
from pgs.domain.payouts import Payout, payout_id
from pgs.domain.seats import Seat
from pgs.http.api.body import decode_object
from pgs.http.outbound.fetch import JsonClient, NotFetched

CALL_S: Final = 8.0
"""Seconds for a whole call to the settlement server, as the interface says; connecting may take 2 s
of that. A partner's seat call waits 10 s for the charge, so it still learns the server's answer."""

ANSWER_BYTES: Final = 4096
"""Bytes of the settlement server's answer. A valid one has one short field, so this is more than a
hundred times what is needed."""

PENDING_MAX: Final = 100_000
"""Charges and payouts that are remembered as pending: some 15 MB. Others are posted again, and the
server treats that as the same request."""

TOKEN_BYTES: Final = 4096
"""Bytes of the file with the token for the settlement server. The longest tokens in use, signed
ones with claims, have 2,000."""

_TOKEN = re.compile(r"[!-~]+", re.ASCII)
_ANSWERS: Final = get_args(ChargeAnswer)


class RemoteSettlement:
    """The settlement server at a URL, called with a token that no log and no repr shows.

    If the server has answered `pending`, the next call looks the charge or payout up. If the
    look-up gets no answer that the interface defines, the call after it posts again.

    The methods raise `UndefinedAnswer` unless the answer is a 200 whose `status` the interface
    defines. The error's reason contains nothing that the server sent, except the status code of the
    response.
    """

    instant = False

    def __init__(self, client: JsonClient, url: str, token: str) -> None:
        self._client = client
        self._url = url.rstrip("/")
        self._authorization = f"Bearer {token}"
        self._pending: set[str] = set()  # paths, each of which names a seat or a payout

    async def charge(self, seat: Seat) -> ChargeAnswer:
        """Return the server's answer to a charge. Raises `UndefinedAnswer`. May be repeated."""
        body: dict[str, str | int] = {
            "seatId": seat.seat_id,
            "partnerId": seat.partner_id,
            "environment": seat.environment,
            "playerId": seat.player_id,
            "amountUsdCents": seat.stake_usd_cents,
        }
        return await self._ask("charges", seat.seat_id, body)

    async def pay(self, match_id: str, payout: Payout) -> ChargeAnswer:
        """Return the server's answer to a payout. Raises `UndefinedAnswer`. May be repeated."""
        body: dict[str, str | int] = {
            "matchId": match_id,
            "seatId": payout.seat_id,
            "partnerId": payout.partner_id,
            "environment": payout.environment,
            "playerId": payout.player_id,
            "amountUsdCents": payout.amount_usd_cents,
            "kind": payout.kind,
        }
        return await self._ask("payouts", payout_id(match_id, payout.seat_id), body)

    async def _ask(self, noun: str, key: str, body: dict[str, str | int]) -> ChargeAnswer:
        path = f"{noun}/{key}"
        if path in self._pending:
            self._pending.discard(path)  # added again below if it is still pending
            answer = await self._call(path)
        else:
            answer = await self._call(noun, key, msgspec.json.encode(body))
        if answer == "pending" and len(self._pending) < PENDING_MAX:
            self._pending.add(path)
        return answer

    async def _call(
        self, path: str, key: str | None = None, body: bytes | None = None
    ) -> ChargeAnswer:
        headers = {"Authorization": self._authorization}
        if key is not None:
            headers["Idempotency-Key"] = key
        try:
            status, raw = await self._client.fetch(
                f"{self._url}/{path}",
                method="GET" if body is None else "POST",
                headers=headers,
                body=body,
                timeout_s=CALL_S,
                max_bytes=ANSWER_BYTES,
            )
        except NotFetched as error:
            raise UndefinedAnswer(error.reason) from None
        if status != 200:
            raise UndefinedAnswer(f"the response has status {status}")
        decoded = decode_object(raw)
        if isinstance(decoded, BadRequest):
            raise UndefinedAnswer("the response is not a JSON object")
        if decoded.get("status") not in _ANSWERS:
            raise UndefinedAnswer("the response has no status that the interface defines")
        return cast(ChargeAnswer, decoded["status"])


def read_token(path: Path) -> str:
    """Return the token in a file, without white space around it. Raises `BadSettings`."""
    name = "PGS_SETTLEMENT_TOKEN_FILE"
    try:
        with path.open("rb") as opened:
            raw = opened.read(TOKEN_BYTES + 1)
    except OSError as error:
        raise BadSettings(
            f"{name}: {path} cannot be read ({error.strerror}). "
            "It must be a file with the settlement server's token, readable by this user"
        ) from None
    text = raw.decode("ascii", "replace").strip()
    if len(raw) > TOKEN_BYTES or not _TOKEN.fullmatch(text):
        raise BadSettings(
            f"{name}: {path} must hold the settlement server's token and nothing else: "
            f"one line of at most {TOKEN_BYTES} visible ASCII characters"
        )
    return text
