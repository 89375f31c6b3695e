-- Totals of each day, game and tier of a partner and environment.

-- name: raise_totals!
insert into totals ({columns of totals})
values ({values of totals})
on conflict (partner_id, environment, day, game_id, tier_id) do update set {sums of totals};

-- name: raise_seats!
-- This statement writes only the columns that a charge raises, because every launch executes it.
insert into totals (partner_id, environment, day, game_id, tier_id, seats, seat_stakes_usd_cents)
values (:partner_id, :environment, :day, :game_id, :tier_id, :seats, :seat_stakes_usd_cents)
on conflict (partner_id, environment, day, game_id, tier_id) do update
set seats = totals.seats + excluded.seats,
  seat_stakes_usd_cents = totals.seat_stakes_usd_cents + excluded.seat_stakes_usd_cents;

-- name: first_open_day^
-- The first day after `after` on which a seat is booked whose money is not recorded.
select min(day) from totals
where partner_id = :partner_id and environment = :environment and day > :after
  and seat_stakes_usd_cents
    > seat_payouts_usd_cents + seat_refunds_usd_cents + seat_rake_usd_cents;

-- name: by_day
select day, {summed totals}
from totals
where partner_id = :partner_id and environment = :environment
  and day between :first_day and :last_day
group by day
order by day;

-- name: by_tier
select game_id, tier_id, {summed totals}
from totals
where partner_id = :partner_id and environment = :environment
  and day between :first_day and :last_day
group by game_id, tier_id
order by game_id, tier_id;
