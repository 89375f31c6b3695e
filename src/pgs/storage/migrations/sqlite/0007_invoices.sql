-- Invoices and their lines. A row of the totals names the invoice that bills its rake.

alter table totals add column invoice_id text;

create index totals_unbilled on totals (partner_id, environment, day, game_id, tier_id)
where invoice_id is null and matches > 0;

create index totals_billed on totals (partner_id, invoice_id) where invoice_id is not null;

create table invoice (
  partner_id text not null,
  environment text not null check (environment in ('test', 'live')),
  invoice_id text not null,
  seq bigint not null,
  month bigint not null,
  status text not null check (status in ('draft', 'open', 'paid', 'void')),
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
  partner_id text not null,
  invoice_id text not null,
  line bigint not null,
  line_id text not null,
  day bigint not null,
  game_id text not null,
  tier_id text not null,
  matches bigint not null,
  amount_usd_cents bigint not null,
  primary key (partner_id, invoice_id, line)
);

create unique index invoice_line_id on invoice_line (partner_id, invoice_id, line_id);

create index match_ended on match (partner_id, environment, ended_at, match_id)
where status = 'ended';

-- Rows of the feed that will not change any more, by the time of their last change.
create index seat_changed on seat (partner_id, environment, updated_at)
where rake_usd_cents is not null;
