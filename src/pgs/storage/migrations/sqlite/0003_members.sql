-- Members, invites, authenticators, unfinished emergency stops, uses of keys, and rake terms.

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

-- Finds the account of an invite, since a person who accepts an invite sends only the invite's id.
create table invite_index (
  invite_id text primary key,
  partner_id text not null
);

insert into invite_index (invite_id, partner_id) select invite_id, partner_id from invite;

-- An invite's place in the list of invites: the sequence number of the event that issued it. The
-- invites that exist before this migration were issued by the first event of their account.
alter table invite add column seq bigint not null default 1;

create unique index invite_sequence on invite (partner_id, seq);

-- A member's authenticator, with everything that the step-up rules store. The secrets are sealed.
create table factor (
  partner_id text not null,
  uid text not null,
  sealed_secret text,
  last_step bigint,
  wrong_codes bigint not null,
  locked_until bigint,
  opened_at bigint,
  pending_sealed_secret text,
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

-- The first terms are now a file of the package, which is inserted if there are no terms.
delete from terms where version = 1 and published_at = 0;
