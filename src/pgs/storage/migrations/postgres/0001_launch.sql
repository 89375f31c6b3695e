-- Accounts, keys, members, tiers and terms: the same tables, columns and keys as in the folder
-- `sqlite`. Texts are compared byte by byte, as SQLite compares them, in every locale.
create table partner (
  partner_id text collate "C" primary key,
  name text collate "C" not null,
  active bigint not null check (active in (0, 1)),
  switched_off_by text collate "C",
  revision bigint not null,
  burst bigint,
  rate bigint,
  pin_test bigint not null,
  pin_live bigint not null,
  generation_test bigint not null,
  generation_live bigint not null,
  admin_domain text collate "C",
  agreed_terms_version bigint,
  agreed_terms_at bigint,
  event_seq bigint not null,
  created_at bigint not null
);

create table api_key (
  partner_id text collate "C" not null,
  key_id text collate "C" not null,
  environment text collate "C" not null check (environment in ('test', 'live')),
  label text collate "C" not null,
  key_hash text collate "C" not null,
  last4 text collate "C" not null,
  created_at bigint not null,
  revokes_at bigint,
  created_by text collate "C", -- a member's uid; null for the platform
  primary key (partner_id, key_id)
);

-- Finds the partner of a key. Hashes are unique across partners.
create table key_index (
  key_hash text collate "C" primary key,
  partner_id text collate "C" not null,
  key_id text collate "C" not null
);

create table licence (
  partner_id text collate "C" not null,
  game_id text collate "C" not null,
  test bigint not null check (test in (0, 1)),
  live text collate "C" not null
    check (live in ('none', 'requested', 'granted', 'denied', 'withdrawn')),
  note text collate "C",
  primary key (partner_id, game_id)
);

create table origin (
  partner_id text collate "C" not null,
  environment text collate "C" not null check (environment in ('test', 'live')),
  origin text collate "C" not null,
  added_at bigint not null,
  primary key (partner_id, environment, origin)
);

create table price (
  partner_id text collate "C" not null,
  environment text collate "C" not null check (environment in ('test', 'live')),
  tier_id text collate "C" not null,
  tier_revision bigint not null,
  entry_usd_cents bigint not null,
  primary key (partner_id, environment, tier_id)
);

create table webhook (
  partner_id text collate "C" not null,
  environment text collate "C" not null check (environment in ('test', 'live')),
  url text collate "C" not null,
  enabled bigint not null check (enabled in (0, 1)),
  consecutive_failures bigint not null,
  created_at bigint not null,
  secret_rotated_at bigint not null,
  disabled_at bigint,
  sealed_secret text collate "C" not null,
  saved_seq bigint not null,
  primary key (partner_id, environment)
);

create table invite (
  partner_id text collate "C" not null,
  invite_id text collate "C" not null,
  email text collate "C" not null,
  role text collate "C" not null check (role in ('admin', 'developer', 'viewer')),
  created_at bigint not null,
  expires_at bigint not null,
  accepted_by text collate "C",
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
  invite_id text collate "C" primary key,
  partner_id text collate "C" not null
);

create table member (
  partner_id text collate "C" not null,
  uid text collate "C" not null,
  email text collate "C" not null,
  role text collate "C" not null check (role in ('admin', 'developer', 'viewer')),
  joined_at bigint not null,
  primary key (partner_id, uid)
);

-- Finds the account of a member. A uid is a member of at most one account.
create table member_index (
  uid text collate "C" primary key,
  partner_id text collate "C" not null
);

-- A member's authenticator, with everything that the step-up rules store. The secrets are sealed.
-- `windows`: a JSON list of [sign-in, epoch seconds at which its window was opened]. `locks`: how
-- often it was locked since the last right code.
create table factor (
  partner_id text collate "C" not null,
  uid text collate "C" not null,
  sealed_secret text collate "C",
  last_step bigint,
  wrong_codes bigint not null,
  locked_until bigint,
  pending_sealed_secret text collate "C",
  windows text collate "C" not null default '[]',
  locks bigint not null default 0,
  primary key (partner_id, uid)
);

-- An emergency stop whose open play is not closed yet. The row is removed once the play is closed.
create table stop (
  partner_id text collate "C" not null,
  environment text collate "C" not null check (environment in ('test', 'live')),
  generation bigint not null,
  at bigint not null,
  primary key (partner_id, environment)
);

-- When a key was last used, to within an hour.
create table key_use (
  partner_id text collate "C" not null,
  key_id text collate "C" not null,
  used_at bigint not null,
  primary key (partner_id, key_id)
);

-- The theme of a partner's frames, a row for each environment once one has been written.
create table theme (
  partner_id text collate "C" not null,
  environment text collate "C" not null check (environment in ('test', 'live')),
  display_name text collate "C" not null,
  primary_color text collate "C" not null,
  background_color text collate "C" not null,
  text_color text collate "C" not null,
  corner_radius bigint not null,
  show_amounts bigint not null check (show_amounts in (0, 1)),
  logo_mime text collate "C",
  logo_sha256 text collate "C",
  logo_size bigint,
  logo_base64 text collate "C",
  revision bigint not null,
  updated_at bigint not null,
  primary key (partner_id, environment)
);

create table event (
  partner_id text collate "C" not null,
  seq bigint not null,
  event_id text collate "C" not null,
  at bigint not null,
  actor text collate "C" not null,
  action text collate "C" not null,
  detail text collate "C" not null,
  primary key (partner_id, seq)
);

-- Tiers belong to the platform. Every revision is kept, since seats refer to the revision at which
-- they were taken.
create table tier (
  environment text collate "C" not null check (environment in ('test', 'live')),
  tier_id text collate "C" not null,
  revision bigint not null,
  name text collate "C" not null,
  floor_usd_cents bigint not null check (floor_usd_cents >= 1),
  prize_usd_cents bigint not null,
  created_at bigint not null,
  primary key (environment, tier_id, revision),
  check (prize_usd_cents >= floor_usd_cents)
);

create table tier_lock (
  environment text collate "C" not null check (environment in ('test', 'live')),
  tier_id text collate "C" not null,
  game_id text collate "C" not null,
  primary key (environment, tier_id, game_id)
);

create table terms (
  version bigint primary key,
  text text collate "C" not null,
  published_at bigint not null
);
