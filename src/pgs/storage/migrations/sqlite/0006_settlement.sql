-- Payouts that the settlement server has not confirmed, and an operator has: they are not asked
-- for again.

create table payout_resolved (
  partner_id text not null,
  match_id text not null,
  seat_id text not null,
  at bigint not null,
  primary key (partner_id, match_id, seat_id)
);
