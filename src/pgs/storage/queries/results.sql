-- Rows of the results feed by the time of their last change. On a final day every row has its money.

-- name: count_changed^
select cast(count(*) as bigint)
from seat
where partner_id = :partner_id and environment = :environment and position is not null
  and rake_usd_cents is not null
  and updated_at >= :since and updated_at < :until;

-- name: changed
select match_id, player_id, status, result, payout_usd_cents, refund_usd_cents, rake_usd_cents
from seat
where partner_id = :partner_id and environment = :environment and position is not null
  and rake_usd_cents is not null
  and updated_at >= :since and updated_at < :until
order by match_id, player_id;

-- name: first_changed^
select min(position)
from seat
where partner_id = :partner_id and environment = :environment and position is not null
  and updated_at >= :since;
