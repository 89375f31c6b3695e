-- The store of the peer: its settings, its table, and at the end the statement that adds a seat.
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
CREATE TABLE IF NOT EXISTS seat (
    seat_id TEXT PRIMARY KEY,
    partner_id TEXT,
    idempotency_key TEXT,
    player_id TEXT,
    game_id TEXT,
    tier_id TEXT,
    stake INTEGER,
    match_id TEXT,
    seated_at INTEGER,
    UNIQUE (partner_id, idempotency_key)
);
INSERT INTO seat VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?);
