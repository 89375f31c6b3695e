-- The log of webhook delivery attempts: one row for each try, numbered per partner and environment.

create table attempt (
  partner_id text not null,
  environment text not null check (environment in ('test', 'live')),
  seq bigint not null,
  attempt_id text not null,
  nudge_id text not null,
  at bigint not null,
  try bigint not null,
  delivered bigint not null check (delivered in (0, 1)),
  status_code bigint,
  duration_ms bigint not null,
  response_body text not null,
  match_id text,
  test bigint not null check (test in (0, 1)),
  error text,
  primary key (partner_id, environment, seq)
);

create index attempt_age on attempt (at);

create index attempt_test on attempt (partner_id, environment, at) where test = 1;
