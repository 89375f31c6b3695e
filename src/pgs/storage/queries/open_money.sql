-- What settlement has not decided yet, and what an operator has decided in its place.

-- name: resolve_payout!
insert into payout_resolved (partner_id, match_id, seat_id, at)
values (:partner_id, :match_id, :seat_id, :at)
on conflict (partner_id, match_id, seat_id) do nothing;

-- name: payouts_resolved
select seat_id
from payout_resolved
where partner_id = :partner_id and match_id = :match_id
order by seat_id;

-- name: open_charges
-- A pending seat always has `due_at`. The condition on it lets the query use the index `seat_due`.
select seated_at, partner_id, seat_id
from seat
where due_at is not null and status = 'pending'
  and (seated_at, partner_id, seat_id) > (:after_since, :after_partner_id, :after_row_id)
order by seated_at, partner_id, seat_id
limit :page_size;

-- name: open_matches
select ended_at, partner_id, match_id
from match
where due_at is not null and money = 'due'
  and (ended_at, partner_id, match_id) > (:after_since, :after_partner_id, :after_row_id)
order by ended_at, partner_id, match_id
limit :page_size;

-- name: count_charges^
select cast(count(*) as bigint), min(seated_at),
  cast(coalesce(sum(case when seated_at <= :overdue_since then 1 else 0 end), 0) as bigint)
from seat
where due_at is not null and status = 'pending';

-- name: count_payouts^
select cast(count(*) as bigint), min(m.ended_at),
  cast(coalesce(sum(case when m.ended_at <= :overdue_since then 1 else 0 end), 0) as bigint)
from match m
join seat s on s.partner_id = m.partner_id and s.match_id = m.match_id
where m.due_at is not null and m.money = 'due'
  and (m.winner_player_id is null or m.winner_player_id = s.player_id);
