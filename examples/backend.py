"""A partner's first backend: it seats two players and reads what the match pays them.

Start `scripts/demo` in one shell. Run this program in another shell, in the same folder:

    python3 examples/backend.py

It needs Python 3.11 or newer and no packages. It does what every backend does:

1. It asks for a session token for each player. The player's frame connects with it.
2. It takes a paid seat for each player. The service pairs two seats at the same game and tier.
3. It ends the match with its test key. With a live key, the players end it by playing.
4. It reads the results feed until the money of both players is recorded.
"""

import http.client
import json
import sys
import time
import urllib.error
import urllib.request
import uuid
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

DEMO_FILE = "demo-data/demo.json"  # written by scripts/demo: addresses and keys
GAME, TIER, STAKE_USD_CENTS = "tic-tac-toe", "test-bronze", 100
PLAYERS = ("p-300", "p-400")  # the ids that you give your players

FEED_WAIT_S = 20  # the service holds the call until a row changes, at most this long
ANSWER_TIMEOUT_S = 40  # longer than FEED_WAIT_S, so that a held call does not look lost
PAUSES_S = (1, 2, 4, 8)  # the pauses between the tries of a call that may succeed later

Json = dict[str, Any]


class Refused(Exception):
    """The service refused the call, and would refuse it again."""

    def __init__(self, answer: Json) -> None:
        super().__init__(f"refused: {answer}")
        self.reason = answer.get("reason")  # a stable code; the text in "error" may change


@dataclass(frozen=True)
class Answer:
    """The answer to a call, or `status` None if no answer came."""

    status: int | None
    body: Json
    retry_after_s: int = 0  # the wait that the service asks for after a 429


class Service:
    """The partner API, called with one key."""

    def __init__(self, base_url: str, key: str) -> None:
        self._base_url = base_url
        self._key = key

    def call(self, method: str, path: str, body: Json | None = None) -> Json:
        """Return the answer of a successful call. Repeat the call after a failure that may pass.

        Every call in this program may be repeated: reads change nothing, a session token costs
        nothing, a seat is named by its idempotencyKey, and the same decision counts once.
        """
        last = "no answer"
        for pause in (*PAUSES_S, None):
            answer = self._send(method, path, body)
            if answer.status == 200:
                return answer.body
            if answer.status is not None and answer.status != 429 and answer.status < 500:
                raise Refused(answer.body)
            last = "no answer" if answer.status is None else f"status {answer.status}"
            if pause is not None:
                time.sleep(max(pause, answer.retry_after_s))
        raise SystemExit(f"{method} {path}: {last} after {len(PAUSES_S) + 1} tries")

    def _send(self, method: str, path: str, body: Json | None) -> Answer:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._base_url + path, data, method=method)
        request.add_header("Authorization", "Bearer " + self._key)
        try:
            with urllib.request.urlopen(request, timeout=ANSWER_TIMEOUT_S) as response:
                return Answer(response.status, json_object(response.read()))
        except urllib.error.HTTPError as error:
            with error:
                wait = error.headers.get("Retry-After", "")
                seconds = int(wait) if wait.isdigit() else 0
                return Answer(error.code, json_object(error.read()), seconds)
        except (OSError, http.client.HTTPException):
            return Answer(None, {})


def json_object(text: bytes) -> Json:
    """Return the object in `text`, or an empty one: a proxy may have answered with a web page."""
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def take_seat(service: Service, player: str, order: str) -> Json:
    """Return the player's paid seat for this order.

    Store the idempotencyKey with the order before the first call. Every repetition sends the
    same key, so the player is charged once even when an answer is lost.
    """
    body = {
        "gameId": GAME,
        "playerId": player,
        "tierId": TIER,
        "stakeUsdCents": STAKE_USD_CENTS,
        "idempotencyKey": f"{order}-{player}",
    }
    return service.call("POST", "/partner/matches", body)


def make_match(service: Service, order: str) -> tuple[str, str]:
    """Return the id of a new match, and the player whose seat started it."""
    for player in PLAYERS:
        mint = {"gameId": GAME, "playerId": player}
        session = service.call("POST", "/partner/sessions", mint)
        print("session for", session["playerUid"], "until", session["expiresAt"])
        seat = take_seat(service, player, order)
        if seat["matchId"] is not None:  # null while the seat waits for an opponent
            return seat["matchId"], player
    raise SystemExit("both seats wait: the service has paired neither")


def read_feed(service: Service, match_id: str, players: list[str]) -> None:
    """Read the feed until the match's money is recorded for each of the players.

    A real backend stores rows and cursor in one transaction, and continues from that cursor after
    a restart. It never stops reading.
    """
    rows: dict[tuple[str, str], Json] = {}
    cursor: str | None = None
    while not all("payoutUsdCents" in rows.get((match_id, player), {}) for player in players):
        query = {"waitSeconds": FEED_WAIT_S} | ({"cursor": cursor} if cursor else {})
        try:
            page = service.call("GET", "/partner/results?" + urlencode(query))
        except Refused as refused:
            if refused.reason != "invalid_cursor":
                raise
            cursor = None  # it is not valid any more: read from the start; rows are replaced
            continue
        for row in page["results"]:
            rows[row["matchId"], row["playerId"]] = row  # a row comes again when it changes
            if row["matchId"] == match_id:
                result, payout = row.get("result"), row.get("payoutUsdCents")
                print(row["playerId"], row["outcome"], result, "payout:", payout)
        cursor = page["nextCursor"]


def main() -> None:
    """Play one match against the demo."""
    try:
        with open(DEMO_FILE, encoding="utf-8") as file:
            demo = json.load(file)
    except FileNotFoundError:
        raise SystemExit(f"{DEMO_FILE} is not here: start scripts/demo in this folder") from None
    service = Service(demo["baseUrl"], demo["testKey"])
    match_id, winner = make_match(service, order=str(uuid.uuid4()))
    match = service.call("GET", f"/partner/matches/{match_id}")
    players = [seat["playerId"] for seat in match["seats"]]
    print("match", match_id, "of", " and ".join(players))
    decision = {"outcome": "ended", "winnerPlayerId": winner}
    service.call("POST", f"/partner/test/matches/{match_id}/decide", decision)
    read_feed(service, match_id, players)


if __name__ == "__main__":
    try:
        main()
    except Refused as refused:
        sys.exit(str(refused))
