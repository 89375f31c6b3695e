-- Accounts, keys, members, tiers and terms. Written in the subset of SQL that SQLite and PostgreSQL
-- share. The primary keys of partners' records begin with the partner's id.

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
  created_by text, -- a member's uid; null for the platform
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
  seq bigint not null,
  primary key (partner_id, invite_id)
);

-- An invite's place in the list: the sequence number of the event that issued it.
create unique index invite_sequence on invite (partner_id, seq);

-- Finds the invites to a person who has signed in and belongs to no account yet.
create index invite_address on invite (lower(email))
where accepted_by is null and revoked_at is null;

-- Finds the account of an invite, since a person who accepts an invite sends only the invite's id.
create table invite_index (
  invite_id text primary key,
  partner_id text not null
);

create table member (
  partner_id text not null,
  uid text not null,
  email text not null,
  role text not null check (role in ('admin', 'developer', 'viewer')),
  joined_at bigint not null,
  primary key (partner_id, uid)
);

-- Finds the account of a member. A uid is a member of at most one account.
create table member_index (
  uid text primary key,
  partner_id text not null
);

-- A member's authenticator, with everything that the step-up rules store. The secrets are sealed.
-- `windows`: a JSON list of [sign-in, epoch seconds at which its window was opened]. `locks`: how
-- often it was locked since the last right code.
create table factor (
  partner_id text not null,
  uid text not null,
  sealed_secret text,
  last_step bigint,
  wrong_codes bigint not null,
  locked_until bigint,
  pending_sealed_secret text,
  windows text not null default '[]',
  locks bigint not null default 0,
  primary key (partner_id, uid)
);

-- An emergency stop whose open play is not closed yet. The row is removed once the play is closed.
create table stop (
  partner_id text not null,
  environment text not null check (environment in ('test', 'live')),
  generation bigint not null,
  at bigint not null,
  primary key (partner_id, environment)
);

-- When a key was last used, to within an hour.
create table key_use (
  partner_id text not null,
  key_id text not null,
  used_at bigint not null,
  primary key (partner_id, key_id)
);

-- The theme of a partner's frames, a row for each environment once one has been written.
create table theme (
  partner_id text not null,
  environment text not null check (environment in ('test', 'live')),
  display_name text not null,
  primary_color text not null,
  background_color text not null,
  text_color text not null,
  corner_radius bigint not null,
  show_amounts bigint not null check (show_amounts in (0, 1)),
  logo_mime text,
  logo_sha256 text,
  logo_size bigint,
  logo_base64 text,
  revision bigint not null,
  updated_at bigint not null,
  primary key (partner_id, environment)
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
