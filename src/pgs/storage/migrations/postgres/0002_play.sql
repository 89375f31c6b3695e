-- Seats, matches, money and webhook attempts.
--
-- Each index on `seat` costs a write for each seat that enters it. A new seat enters as few indexes
-- as possible: those of ids, of idempotency keys, of due times and of open seats. The others have
-- only the rows that their queries look for. Ids begin with the time. The primary keys of seats and
-- matches, and the index `ledger_seat`, begin with an id and not with the partner. So the new rows
-- of all partners stand together at the end of each index, on a few pages that one commit writes.

-- A row for each partner and environment: the last seat sequence, the last position of the results
-- feed, the last row of the ledger with its hash, and the last day that was made final.
-- `final_seal` is a hash of `final_day`, so that the check of the ledger notices if `final_day` was
-- altered by hand; it is empty in a row that a restore has added. A transaction that gives out
-- numbers updates this row only if it still has the values that were read. So no number of a seat
-- is given out twice, and no index on these numbers is needed.
create table head (
  partner_id text collate "C" not null,
  environment text collate "C" not null check (environment in ('test', 'live')),
  seat_seq bigint not null,
  feed_position bigint not null,
  ledger_seq bigint not null,
  ledger_hash text collate "C" not null,
  final_day bigint not null,
  final_seal text collate "C" not null default '',
  primary key (partner_id, environment)
);

-- A seat is also its row of the results feed, once it has a position. Side 0 moves first.
-- In the tables that every match writes, checks of three or more values use `or`, not `in`, as in
-- the folder `sqlite`: for such a list SQLite fills a temporary table each time it writes a row,
-- which was a third of an insert's time.
create table seat (
  partner_id text collate "C" not null,
  environment text collate "C" not null check (environment in ('test', 'live')),
  seat_id text collate "C" not null,
  seq bigint not null,
  idempotency_key text collate "C" not null,
  player_id text collate "C" not null,
  game_id text collate "C" not null,
  tier_id text collate "C" not null,
  tier_revision bigint not null,
  sent_usd_cents bigint not null,
  stake_usd_cents bigint not null check (stake_usd_cents >= 1),
  prize_usd_cents bigint not null,
  partner_ref text collate "C",
  status text collate "C" not null
    check (status = 'pending' or status = 'waiting' or status = 'matched' or
    status = 'ended' or status = 'no_contest' or status = 'declined'),
  stake_status text collate "C" not null
    check (stake_status = 'pending' or stake_status = 'confirmed' or
    stake_status = 'declined' or stake_status = 'refunded'),
  seated_at bigint not null,
  settlement text collate "C" not null check (settlement in ('embedded', 'remote')),
  confirmed_at bigint,
  expires_at bigint,
  due_at bigint,
  closing text collate "C",
  match_id text collate "C",
  side bigint check (side in (0, 1)),
  opponent_player_id text collate "C",
  result text collate "C" check (result = 'won' or result = 'lost' or result = 'drawn'),
  score bigint,
  end_reason text collate "C",
  started_at bigint,
  ended_at bigint,
  payout_usd_cents bigint,
  refund_usd_cents bigint,
  rake_usd_cents bigint,
  position bigint,
  revision bigint not null,
  updated_at bigint not null,
  primary key (seat_id, partner_id)
);

create unique index seat_idempotency on seat (partner_id, environment, idempotency_key);
create index seat_due on seat (due_at) where due_at is not null;

-- The seats that expect an opponent or settlement's answer, and those in a match whose money is not
-- recorded yet: the match runs, or it has ended and is not paid. The condition of `seat_unrecorded`
-- names the statuses of a seat in a match, as in the folder `sqlite`: if the condition were
-- `position is not null`, SQLite would use `seat_position` for some queries that `seat_unrecorded`
-- is meant for, and `seat_position` has a partner's whole history. In `seat_unrecorded` the status
-- comes before the player, so that the mint of a session and the start of a seats actor read only
-- seats whose match runs, however many others wait for their money.
create index seat_open on seat (partner_id, environment, player_id, seq)
where status in ('pending', 'waiting');
create index seat_unrecorded on seat (partner_id, environment, status, player_id, seq)
where (status = 'matched' or status = 'ended' or status = 'no_contest') and rake_usd_cents is null;

create unique index seat_match on seat (match_id, partner_id, player_id) where match_id is not null;
create unique index seat_position on seat (partner_id, environment, position)
where position is not null;

-- The rows of the feed whose money is recorded, by the time of their last change, with the column
-- that a look-up by time reads. A seat enters when it is paid, and not when its match starts:
-- when many partners play, each seat that enters this index writes another page of it, which would
-- make a launch slower.
create index seat_changed on seat (partner_id, environment, updated_at, position)
where rake_usd_cents is not null;

-- Two indexes for what support asks for: a player's matches, and matches by a partner's reference.
-- Like `seat_changed`, they have only seats whose money is recorded; the others are looked for in
-- `seat_unrecorded`. The block of 256 seats in which the seat was taken stands before the player or
-- the reference, so that a seat that is paid writes to the few pages of the newest blocks, and not
-- to pages all over a long history.
create index seat_player on seat (partner_id, environment, (seq / 256), player_id)
where rake_usd_cents is not null;
create index seat_reference on seat (partner_id, environment, (seq / 256), partner_ref)
where partner_ref is not null and rake_usd_cents is not null;

create table match (
  partner_id text collate "C" not null,
  environment text collate "C" not null check (environment in ('test', 'live')),
  match_id text collate "C" not null,
  game_id text collate "C" not null,
  tier_id text collate "C" not null,
  tier_revision bigint not null,
  prize_usd_cents bigint not null,
  status text collate "C" not null
    check (status = 'started' or status = 'ended' or status = 'no_contest'),
  end_reason text collate "C",
  started_at bigint,
  ended_at bigint,
  winner_player_id text collate "C",
  pairing text collate "C",
  money text collate "C" not null check (money = 'none' or money = 'due' or money = 'recorded'),
  due_at bigint,
  primary key (match_id, partner_id)
);

create index match_due on match (due_at) where due_at is not null;
create index match_running on match (partner_id, environment, match_id) where status = 'started';
create index match_ended on match (partner_id, environment, ended_at, match_id)
where status = 'ended';
create index match_no_contest on match (partner_id, environment, ended_at, match_id)
where status = 'no_contest';

-- Play: who has joined a match, and its moves. Times in epoch milliseconds; sides 0 and 1.
create table presence (
  partner_id text collate "C" not null,
  match_id text collate "C" not null,
  came_0_ms bigint,
  came_1_ms bigint,
  clocks_ms bigint,
  name_0 text collate "C",
  name_1 text collate "C",
  primary key (partner_id, match_id)
);

create table move (
  partner_id text collate "C" not null,
  match_id text collate "C" not null,
  ply bigint not null,
  side bigint not null check (side in (0, 1)),
  move text collate "C" not null,
  at_ms bigint not null,
  left_0_ms bigint not null,
  left_1_ms bigint not null,
  primary key (partner_id, match_id, ply)
);

-- The number of live matches of each player and game, and in how many the player moved first.
create table first_moves (
  partner_id text collate "C" not null,
  environment text collate "C" not null check (environment in ('test', 'live')),
  game_id text collate "C" not null,
  player_id text collate "C" not null,
  matches bigint not null,
  moved_first bigint not null,
  primary key (partner_id, environment, game_id, player_id)
);

-- Players' skill by game, computed from live matches that ended with a result. `mu` (the mean) and
-- `sigma` (the deviation) are in millionths of a point.

create table rating (
  partner_id text collate "C" not null,
  environment text collate "C" not null check (environment in ('test', 'live')),
  game_id text collate "C" not null,
  player_id text collate "C" not null,
  mu bigint not null,
  sigma bigint not null check (sigma > 0),
  matches bigint not null check (matches >= 1),
  last_opponent text collate "C",
  primary key (partner_id, environment, game_id, player_id)
);

-- Transfers of players' money. Each row names the account that is debited and the one that is
-- credited; its hash covers the row and the hash of the row before it. `row_id` orders the rows of
-- a ledger as they were written. The numbers `seq` need no index: the head gives out each of them
-- once, and the check of the ledgers finds a number that is there twice or not at all.
create table ledger (
  row_id bigint generated by default as identity primary key,
  partner_id text collate "C" not null,
  environment text collate "C" not null check (environment in ('test', 'live')),
  seq bigint not null,
  at bigint not null,
  kind text collate "C" not null
    check (kind = 'charge' or kind = 'prize' or kind = 'refund' or kind = 'rake'),
  debit text collate "C" not null,
  credit text collate "C" not null,
  seat_id text collate "C" not null,
  match_id text collate "C",
  amount_usd_cents bigint not null check (amount_usd_cents > 0),
  hash text collate "C" not null
);

-- A stake is charged once, and settled once.
create unique index ledger_seat on ledger (seat_id, partner_id, kind);

-- Payouts that an operator has confirmed because the settlement server did not. The server is not
-- asked for them again.

create table payout_resolved (
  partner_id text collate "C" not null,
  match_id text collate "C" not null,
  seat_id text collate "C" not null,
  at bigint not null,
  primary key (partner_id, match_id, seat_id)
);

-- The totals of each day, game and tier. The first figures count the matches decided on the day,
-- the last ones the seats whose stakes were confirmed on that day. The invoice bills the rake.
create table totals (
  partner_id text collate "C" not null,
  environment text collate "C" not null check (environment in ('test', 'live')),
  day bigint not null,
  game_id text collate "C" not null,
  tier_id text collate "C" not null,
  matches bigint not null default 0,
  no_contests bigint not null default 0,
  match_seats bigint not null default 0,
  match_stakes_usd_cents bigint not null default 0,
  match_payouts_usd_cents bigint not null default 0,
  match_refunds_usd_cents bigint not null default 0,
  match_rake_usd_cents bigint not null default 0,
  seats bigint not null default 0,
  seats_refunded bigint not null default 0,
  seat_stakes_usd_cents bigint not null default 0,
  seat_payouts_usd_cents bigint not null default 0,
  seat_refunds_usd_cents bigint not null default 0,
  seat_rake_usd_cents bigint not null default 0,
  invoice_id text collate "C",
  primary key (partner_id, environment, day, game_id, tier_id)
);

create index totals_unbilled on totals (partner_id, environment, day, game_id, tier_id)
where invoice_id is null and matches > 0;

create index totals_billed on totals (partner_id, invoice_id) where invoice_id is not null;

create table invoice (
  partner_id text collate "C" not null,
  environment text collate "C" not null check (environment in ('test', 'live')),
  invoice_id text collate "C" not null,
  seq bigint not null,
  month bigint not null,
  status text collate "C" not null check (status in ('draft', 'open', 'paid', 'void')),
  created_at bigint not null,
  number bigint,
  total_usd_cents bigint,
  line_count bigint,
  finalized_at bigint,
  due_at bigint,
  paid_at bigint,
  voided_at bigint,
  primary key (partner_id, invoice_id)
);

create index invoice_draft on invoice (partner_id, environment, month) where status = 'draft';
create unique index invoice_sequence on invoice (partner_id, environment, seq);
create unique index invoice_month on invoice (partner_id, environment, month);
create unique index invoice_number on invoice (partner_id, environment, number)
where number is not null;

create table invoice_line (
  partner_id text collate "C" not null,
  invoice_id text collate "C" not null,
  line bigint not null,
  line_id text collate "C" not null,
  day bigint not null,
  game_id text collate "C" not null,
  tier_id text collate "C" not null,
  matches bigint not null,
  amount_usd_cents bigint not null,
  primary key (partner_id, invoice_id, line)
);

create unique index invoice_line_id on invoice_line (partner_id, invoice_id, line_id);

-- The log of webhook delivery attempts: one row for each try, numbered per partner and environment.

create table attempt (
  partner_id text collate "C" not null,
  environment text collate "C" not null check (environment in ('test', 'live')),
  seq bigint not null,
  attempt_id text collate "C" not null,
  nudge_id text collate "C" not null,
  at bigint not null,
  try bigint not null,
  delivered bigint not null check (delivered in (0, 1)),
  status_code bigint,
  duration_ms bigint not null,
  response_body text collate "C" not null,
  match_id text collate "C",
  test bigint not null check (test in (0, 1)),
  error text collate "C",
  resend bigint not null default 0 check (resend in (0, 1)),
  primary key (partner_id, environment, seq)
);

create unique index attempt_id on attempt (partner_id, environment, attempt_id);

create index attempt_age on attempt (at);

create index attempt_test on attempt (partner_id, environment, at) where test = 1;

create index attempt_match on attempt (partner_id, environment, match_id, seq)
where match_id is not null;

-- Counters. The readiness check raises one, because only a commit proves that the disk still
-- accepts commits. Each writer raises one of its own with each group that it commits. Two more rows
-- are no counters: they hold the numbers by which a start recognises the database and its server.
create table heartbeat (
  name text collate "C" primary key,
  beats bigint not null
);
