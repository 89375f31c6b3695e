-- Accounts, keys, tiers, seats, matches, the feed and the ledger. Written in the subset of SQL that
-- SQLite and PostgreSQL share. The primary keys of partners' records begin with the partner's id.

create table partner (
  partner_id text primary key,
  name text not null,
  active bigint not null check (active in (0, 1)),
  switched_off_by text,
  revision bigint not null,
  burst bigint,
  rate bigint,
  pin_test bigint not null,
  pin_live bigint not null,
  generation_test bigint not null,
  generation_live bigint not null,
  admin_domain text,
  agreed_terms_version bigint,
  agreed_terms_at bigint,
  event_seq bigint not null,
  created_at bigint not null
);

create table api_key (
  partner_id text not null,
  key_id text not null,
  environment text not null check (environment in ('test', 'live')),
  label text not null,
  key_hash text not null,
  last4 text not null,
  created_at bigint not null,
  revokes_at bigint,
  primary key (partner_id, key_id)
);

-- Finds the partner of a key. Hashes are unique across partners.
create table key_index (
  key_hash text primary key,
  partner_id text not null,
  key_id text not null
);

create table licence (
  partner_id text not null,
  game_id text not null,
  test bigint not null check (test in (0, 1)),
  live text not null check (live in ('none', 'requested', 'granted', 'denied', 'withdrawn')),
  note text,
  primary key (partner_id, game_id)
);

create table origin (
  partner_id text not null,
  environment text not null check (environment in ('test', 'live')),
  origin text not null,
  added_at bigint not null,
  primary key (partner_id, environment, origin)
);

create table price (
  partner_id text not null,
  environment text not null check (environment in ('test', 'live')),
  tier_id text not null,
  tier_revision bigint not null,
  entry_usd_cents bigint not null,
  primary key (partner_id, environment, tier_id)
);

create table webhook (
  partner_id text not null,
  environment text not null check (environment in ('test', 'live')),
  url text not null,
  enabled bigint not null check (enabled in (0, 1)),
  consecutive_failures bigint not null,
  created_at bigint not null,
  secret_rotated_at bigint not null,
  disabled_at bigint,
  sealed_secret text not null,
  saved_seq bigint not null,
  primary key (partner_id, environment)
);

create table invite (
  partner_id text not null,
  invite_id text not null,
  email text not null,
  role text not null check (role in ('admin', 'developer', 'viewer')),
  created_at bigint not null,
  expires_at bigint not null,
  accepted_by text,
  revoked_at bigint,
  primary key (partner_id, invite_id)
);

create table event (
  partner_id text not null,
  seq bigint not null,
  event_id text not null,
  at bigint not null,
  actor text not null,
  action text not null,
  detail text not null,
  primary key (partner_id, seq)
);

-- Tiers belong to the platform. Every revision is kept, since seats refer to the revision at which
-- they were taken.
create table tier (
  environment text not null check (environment in ('test', 'live')),
  tier_id text not null,
  revision bigint not null,
  name text not null,
  floor_usd_cents bigint not null check (floor_usd_cents >= 1),
  prize_usd_cents bigint not null,
  created_at bigint not null,
  primary key (environment, tier_id, revision),
  check (prize_usd_cents >= floor_usd_cents)
);

create table tier_lock (
  environment text not null check (environment in ('test', 'live')),
  tier_id text not null,
  game_id text not null,
  primary key (environment, tier_id, game_id)
);

create table terms (
  version bigint primary key,
  text text not null,
  published_at bigint not null
);

insert into terms (version, text, published_at) values (1,
'Rake terms, version 1. Of the stakes of a match the winner receives the prize of its tier; what remains is the rake. A drawn match and a match without a result return every stake in full. Rake is invoiced once a month for each environment.', 0);

-- A row for each partner and environment: the last seat sequence, the last position of the results
-- feed, the last row of the ledger with its hash, and the last day that was made final.
create table head (
  partner_id text not null,
  environment text not null check (environment in ('test', 'live')),
  seat_seq bigint not null,
  feed_position bigint not null,
  ledger_seq bigint not null,
  ledger_hash text not null,
  final_day bigint not null,
  primary key (partner_id, environment)
);

-- A seat is also its row of the results feed, once it has a position.
create table seat (
  partner_id text not null,
  environment text not null check (environment in ('test', 'live')),
  seat_id text not null,
  seq bigint not null,
  idempotency_key text not null,
  player_id text not null,
  game_id text not null,
  tier_id text not null,
  tier_revision bigint not null,
  sent_usd_cents bigint not null,
  stake_usd_cents bigint not null check (stake_usd_cents >= 1),
  prize_usd_cents bigint not null,
  partner_ref text,
  status text not null check (status in ('pending', 'waiting', 'matched', 'ended', 'no_contest',
    'declined')),
  stake_status text not null check (stake_status in ('pending', 'confirmed', 'declined',
    'refunded')),
  seated_at bigint not null,
  settlement text not null check (settlement in ('embedded', 'remote')),
  confirmed_at bigint,
  expires_at bigint,
  due_at bigint,
  closing text,
  match_id text,
  opponent_player_id text,
  result text check (result in ('won', 'lost', 'drawn')),
  score bigint,
  end_reason text,
  started_at bigint,
  ended_at bigint,
  payout_usd_cents bigint,
  refund_usd_cents bigint,
  rake_usd_cents bigint,
  position bigint,
  revision bigint not null,
  updated_at bigint not null,
  primary key (partner_id, seat_id)
);

create unique index seat_idempotency on seat (partner_id, environment, idempotency_key);
create unique index seat_sequence on seat (partner_id, environment, seq);
create unique index seat_position on seat (partner_id, environment, position)
where position is not null;
create unique index seat_match on seat (partner_id, match_id, player_id) where match_id is not null;
create index seat_due on seat (due_at) where due_at is not null;
create index seat_waiting on seat (partner_id, environment, seq) where status = 'waiting';
create index seat_playing on seat (partner_id, environment, player_id, seq)
where status = 'matched';
create index seat_open on seat (partner_id, environment, seat_id)
where status in ('pending', 'waiting');

create table match (
  partner_id text not null,
  environment text not null check (environment in ('test', 'live')),
  match_id text not null,
  game_id text not null,
  tier_id text not null,
  tier_revision bigint not null,
  prize_usd_cents bigint not null,
  status text not null check (status in ('started', 'ended', 'no_contest')),
  end_reason text,
  started_at bigint,
  ended_at bigint,
  winner_player_id text,
  pairing text,
  money text not null check (money in ('none', 'due', 'recorded')),
  due_at bigint,
  primary key (partner_id, match_id)
);

create index match_due on match (due_at) where due_at is not null;
create index match_running on match (partner_id, environment, match_id) where status = 'started';

-- Transfers of players' money. Each row names the account that is debited and the one that is
-- credited; its hash covers the row and the hash of the row before it.
create table ledger (
  partner_id text not null,
  environment text not null check (environment in ('test', 'live')),
  seq bigint not null,
  at bigint not null,
  kind text not null check (kind in ('charge', 'prize', 'refund', 'rake')),
  debit text not null,
  credit text not null,
  seat_id text not null,
  match_id text,
  amount_usd_cents bigint not null check (amount_usd_cents > 0),
  hash text not null,
  primary key (partner_id, environment, seq)
);

-- A stake is charged once, and settled once.
create unique index ledger_seat on ledger (partner_id, seat_id, kind);

-- What each day's play came to, by game and tier. The first figures count the matches decided on
-- the day, the last ones the seats whose stakes were confirmed on it.
create table totals (
  partner_id text not null,
  environment text not null check (environment in ('test', 'live')),
  day bigint not null,
  game_id text not null,
  tier_id text not null,
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
  primary key (partner_id, environment, day, game_id, tier_id)
);

-- Written by the readiness check, because only a commit proves that the disk still accepts commits.
create table heartbeat (
  name text primary key,
  beats bigint not null
);
