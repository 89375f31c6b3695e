"""The steps of a launch, a move and a nudge, as the pictures of docs/architecture.md show them."""

from drawings.sequences import Lane, Step

_BACKEND = Lane("Partner's backend", "outside")
_TRANSPORT = Lane("Transport", "http/transport")
_PIPELINE = Lane("API", "http/api, http/partner")
_SEATS = Lane("Seats actor", "actors/seating")
_WRITER = Lane("Writer thread", "storage/writer.py")
_BELL = Lane("Feed and courier", "actors/delivery")

LAUNCH = (
    "A launch: mint and seat",
    [_BACKEND, _TRANSPORT, _PIPELINE, _SEATS, _WRITER, _BELL],
    [
        Step("Partner's backend", "Transport", "POST /partner/sessions"),
        Step("Transport", "API", "well-formed, bounded"),
        Step("API", "API", "key, rate, licence, player id; then sign a token"),
        Step("API", "Partner's backend", "session token; nothing was written"),
        Step("Partner's backend", "Transport", "POST /partner/matches"),
        Step("Transport", "API", "well-formed, bounded"),
        Step("API", "API", "the same checks"),
        Step("API", "Seats actor", "StakeSeat"),
        Step("Seats actor", "Seats actor", "check terms and stake, pair"),
        Step("Seats actor", "Writer thread", "one transaction: seat, match, ledger, feed"),
        Step("Writer thread", "Seats actor", "committed; or the key is known already"),
        Step("Seats actor", "Feed and courier", "wake held calls; Nudge", later=True),
        Step("Seats actor", "API", "Seated"),
        Step("API", "Partner's backend", "200: the seat is on disk"),
    ],
)

MOVE = (
    "A move",
    [
        Lane("Player's frame", "web/src/frame"),
        Lane("Game socket", "http/game/socket.py"),
        Lane("Table", "actors/play"),
        Lane("Writer thread", "storage/writer.py"),
        Lane("Opponent's frame", "web/src/frame"),
        Lane("Seats actor", "actors/seating"),
    ],
    [
        Step("Player's frame", "Game socket", "move, with the ply it saw"),
        Step("Game socket", "Table", "PlayMove"),
        Step("Table", "Table", "in turn? legal? in time?"),
        Step("Table", "Writer thread", "one transaction: move, due time"),
        Step("Writer thread", "Table", "committed"),
        Step("Table", "Player's frame", "moved"),
        Step("Table", "Opponent's frame", "moved"),
        Step("Table", "Seats actor", "EndPlay, after the last move", later=True),
        Step("Seats actor", "Table", "LookAgain, once the end is on disk", later=True),
    ],
)

NUDGE = (
    "A nudge",
    [
        Lane("Seats actor", "actors/seating"),
        Lane("Courier", "actors/delivery"),
        Lane("Delivery task", "actors/delivery"),
        Lane("Outbound", "http/outbound"),
        Lane("Partner's endpoint", "outside"),
        Lane("Account actor", "actors/account"),
    ],
    [
        Step("Seats actor", "Courier", "Nudge, after the commit"),
        Step("Courier", "Delivery task", "when one of eight places is free", later=True),
        Step("Delivery task", "Delivery task", "sign the body once for all tries"),
        Step("Delivery task", "Outbound", "try now, then after 1 s and 5 s"),
        Step("Outbound", "Outbound", "look up, check and pin the address"),
        Step("Outbound", "Partner's endpoint", "POST over TLS, no redirects"),
        Step("Partner's endpoint", "Outbound", "status"),
        Step("Delivery task", "Courier", "TryDone"),
        Step("Courier", "Courier", "write the attempt and the failure count"),
        Step("Courier", "Account actor", "DisableWebhook, at the tenth failure", later=True),
    ],
)
