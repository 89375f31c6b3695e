"""The service that a team would write instead: FastAPI on uvicorn, with uvloop and httptools.

It serves the same launch with less work: it knows a partner by the hash of its key, takes a token
from the partner's bucket, checks the body, signs a session token, and stores a seat that is unique
for its idempotency key, synced to disk before the answer. Two waiting seats become a match. There
is no feed, no ledger, no webhook, no settlement and no older API version.

    PEER_COMMIT=group|call fastapi_peer.py PORT KEYS DATABASE

`group`: a thread commits all seats that wait, in one transaction. `call`: each call commits alone,
in the thread pool.
"""

import asyncio
import collections
import hashlib
import json
import os
import queue
import re
import secrets
import sqlite3
import sys
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import jwt
import uvicorn
from fastapi import FastAPI, Header
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from pydantic import BaseModel

SECRET = secrets.token_bytes(32)
PLAYER = re.compile(r"[A-Za-z0-9_-]{1,64}")
BURST, PER_SECOND = 300, 80  # the bucket of a partner
GROUP_MAX = 256  # seats of one transaction
GROUPED = os.environ.get("PEER_COMMIT", "group") == "group"
PORT, KEYS_FILE, DATABASE = int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
PARTNERS = {
    hashlib.sha256(entry["testKey"].encode()).digest(): entry["partnerId"]
    for entry in json.loads(KEYS_FILE.read_text(encoding="utf-8"))
}

*SET_UP, ADD_SEAT, _ = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8").split(";\n")

Row = tuple[str, str, str, str, str, str, int, str | None, int]


class SessionBody(BaseModel):
    gameId: str
    playerId: str


class SeatBody(BaseModel):
    playerId: str
    gameId: str
    tierId: str
    stakeUsdCents: int
    idempotencyKey: str


class Store:
    """Seats in SQLite, in WAL mode with full synchronisation."""

    def __init__(self) -> None:
        self.db = sqlite3.connect(DATABASE, isolation_level=None, check_same_thread=False)
        for statement in SET_UP:
            self.db.execute(statement)
        self.lock = threading.Lock()
        self.jobs: queue.SimpleQueue[tuple[Row, asyncio.Future[None]]] = queue.SimpleQueue()

    def write(self, rows: list[Row]) -> None:
        """Commit rows in one transaction."""
        with self.lock:
            self.db.execute("BEGIN IMMEDIATE")
            for row in rows:
                self.db.execute(ADD_SEAT, row)
            self.db.execute("COMMIT")

    def write_groups(self, loop: asyncio.AbstractEventLoop) -> None:
        """Commit what waits, group after group, and resolve the futures. Never returns."""
        while True:
            group = [self.jobs.get()]
            try:
                while len(group) < GROUP_MAX:
                    group.append(self.jobs.get_nowait())
            except queue.Empty:
                pass
            self.write([row for row, _ in group])
            loop.call_soon_threadsafe(_resolve, [future for _, future in group])


def _resolve(futures: list[asyncio.Future[None]]) -> None:
    for future in futures:
        if not future.done():
            future.set_result(None)


class Bucket:
    """The token bucket of a partner: how many calls it may make now."""

    def __init__(self) -> None:
        self.left, self.at = float(BURST), time.monotonic()

    def take(self) -> bool:
        now = time.monotonic()
        self.left = min(BURST, self.left + (now - self.at) * PER_SECOND)
        self.at = now
        if self.left < 1:
            return False
        self.left -= 1
        return True


store = Store()
buckets: dict[str, Bucket] = collections.defaultdict(Bucket)
waiting: dict[tuple[str, str, str], collections.deque[dict[str, Any]]] = collections.defaultdict(
    collections.deque
)
seated: dict[tuple[str, str], dict[str, Any]] = {}


@asynccontextmanager
async def lifespan(_: FastAPI) -> AsyncIterator[None]:
    if GROUPED:
        loop = asyncio.get_running_loop()
        threading.Thread(target=store.write_groups, args=(loop,), daemon=True).start()
    yield


app = FastAPI(lifespan=lifespan)


def _refusal(status: int, reason: str) -> JSONResponse:
    return JSONResponse({"error": reason, "reason": reason}, status)


def _admit(authorization: str, player_id: str) -> str | JSONResponse:
    """Return the partner of a call, or its refusal."""
    key = authorization.removeprefix("Bearer ").encode()
    partner_id = PARTNERS.get(hashlib.sha256(key).digest())
    if partner_id is None:
        return _refusal(401, "invalid_key")
    if not buckets[partner_id].take():
        return _refusal(429, "rate_limited")
    if not PLAYER.fullmatch(player_id):
        return _refusal(400, "malformed_player_id")
    return partner_id


@app.post("/partner/sessions")
async def mint(body: SessionBody, authorization: str = Header("")) -> Any:
    admitted = _admit(authorization, body.playerId)
    if isinstance(admitted, JSONResponse):
        return admitted
    now = int(time.time())
    player_uid = f"ptr:test:{admitted}:{body.playerId}"
    claims = {"sub": player_uid, "game": body.gameId, "iat": now, "exp": now + 3600}
    return {
        "sessionToken": jwt.encode(claims, SECRET, "HS256"),
        "playerUid": player_uid,
        "gameId": body.gameId,
        "environment": "test",
        "issuedAt": now,
        "expiresAt": now + 3600,
    }


@app.post("/partner/matches")
async def seat(body: SeatBody, authorization: str = Header("")) -> Any:
    admitted = _admit(authorization, body.playerId)
    if isinstance(admitted, JSONResponse):
        return admitted
    if known := seated.get((admitted, body.idempotencyKey)):
        return known
    pool = waiting[admitted, body.gameId, body.tierId]
    other = pool.popleft() if pool and pool[0]["playerId"] != body.playerId else None
    record = {
        "seatId": f"sea_{secrets.token_hex(12)}",
        "matchId": f"mat_{secrets.token_hex(12)}" if other else None,
        "status": "matched" if other else "waiting",
        "environment": "test",
        "seatedAt": int(time.time()),
        **body.model_dump(),
    }
    if other is None:
        pool.append(record)
    row = (
        record["seatId"],
        admitted,
        body.idempotencyKey,
        body.playerId,
        body.gameId,
        body.tierId,
        body.stakeUsdCents,
        record["matchId"],
        record["seatedAt"],
    )
    if GROUPED:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        store.jobs.put((row, future))
        await future
    else:
        await run_in_threadpool(store.write, [row])
    seated[admitted, body.idempotencyKey] = record
    return record


if __name__ == "__main__":
    uvicorn.run(
        app,
        host="127.0.0.1",
        port=PORT,
        access_log=False,
        log_level="warning",
        timeout_keep_alive=300,  # under valgrind a connection waits long for its next request
        loop="uvloop",
        http="httptools",
    )
