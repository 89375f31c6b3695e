-- name: keep_a_log^
pragma journal_mode = wal;

-- name: wait_for_the_disk^
pragma synchronous = full;

-- name: make_charges!
create table if not exists charge (
  seat_id text primary key,
  partner_id text not null,
  environment text not null,
  player_id text not null,
  amount_usd_cents bigint not null,
  outcome text not null check (outcome in ('confirmed', 'declined')),
  ready_at real not null,
  posts bigint not null
);

-- name: make_payouts!
create table if not exists payout (
  match_id text not null,
  seat_id text not null,
  partner_id text not null,
  environment text not null,
  player_id text not null,
  amount_usd_cents bigint not null,
  kind text not null check (kind in ('prize', 'refund')),
  outcome text not null check (outcome in ('confirmed', 'declined')),
  ready_at real not null,
  posts bigint not null,
  primary key (match_id, seat_id)
);

-- name: make_refusals!
create table if not exists refusal (key text not null, why text not null);

-- name: find_charge^
select seat_id, partner_id, environment, player_id, amount_usd_cents, outcome, ready_at
from charge
where seat_id = :seat_id;

-- name: insert_charge!
insert into charge (seat_id, partner_id, environment, player_id, amount_usd_cents, outcome,
  ready_at, posts)
values (:seat_id, :partner_id, :environment, :player_id, :amount_usd_cents, :outcome,
  :ready_at, 1);

-- name: count_charge_post!
update charge set posts = posts + 1 where seat_id = :seat_id;

-- name: find_payout^
select match_id, seat_id, partner_id, environment, player_id, amount_usd_cents, kind, outcome,
  ready_at
from payout
where match_id = :match_id and seat_id = :seat_id;

-- name: other_payouts
select match_id, seat_id, kind
from payout
where match_id = :match_id or seat_id = :seat_id;

-- name: insert_payout!
insert into payout (match_id, seat_id, partner_id, environment, player_id, amount_usd_cents, kind,
  outcome, ready_at, posts)
values (:match_id, :seat_id, :partner_id, :environment, :player_id, :amount_usd_cents, :kind,
  :outcome, :ready_at, 1);

-- name: count_payout_post!
update payout set posts = posts + 1 where match_id = :match_id and seat_id = :seat_id;

-- name: insert_refusal!
insert into refusal (key, why) values (:key, :why);

-- name: refusals
select key, why from refusal order by rowid limit 100;

-- name: totals
select partner_id, environment, sum(charged), sum(prizes), sum(refunds), sum(seats), sum(paid)
from (
  select partner_id, environment, amount_usd_cents as charged, 0 as prizes, 0 as refunds,
    1 as seats, 0 as paid
  from charge where outcome = 'confirmed'
  union all
  select partner_id, environment, 0,
    case when kind = 'prize' then amount_usd_cents else 0 end,
    case when kind = 'refund' then amount_usd_cents else 0 end, 0, 1
  from payout where outcome = 'confirmed'
)
group by partner_id, environment
order by partner_id, environment;

-- name: repeats^
select
  (select coalesce(sum(posts - 1), 0) from charge),
  (select coalesce(sum(posts - 1), 0) from payout),
  (select count(*) from charge where outcome = 'declined');

-- name: payouts_without_a_charge
select p.match_id, p.seat_id
from payout p
left join charge c on c.seat_id = p.seat_id and c.partner_id = p.partner_id
  and c.environment = p.environment and c.player_id = p.player_id and c.outcome = 'confirmed'
where c.seat_id is null
limit 100;

-- name: seats_paid_twice
select seat_id from payout group by seat_id having count(*) > 1 limit 100;

-- name: refunds_that_are_not_the_charge
select p.match_id, p.seat_id
from payout p
join charge c on c.seat_id = p.seat_id
where p.kind = 'refund' and p.amount_usd_cents <> c.amount_usd_cents
limit 100;

-- name: matches_paid_wrongly
select match_id
from payout
group by match_id
having count(*) > 2 or count(distinct partner_id || '/' || environment) > 1
  or (max(case when kind = 'prize' then 1 else 0 end) = 1 and count(*) > 1)
limit 100;

-- name: all_charges
select seat_id, amount_usd_cents, outcome from charge order by seat_id;

-- name: all_payouts
select match_id, seat_id, kind, amount_usd_cents, outcome from payout order by match_id, seat_id;
