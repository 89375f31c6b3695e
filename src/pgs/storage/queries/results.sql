-- Rows of the feed, by position or by the time of their last change. `count_changed` and `changed`
-- find only rows whose money is recorded; on a final day, these are all rows.

-- name: page
-- The columns have the order of the fields of ResultRow in pgs.http.partner.results. The last one
-- is the row's position.
select match_id, player_id, seat_id, idempotency_key, game_id, tier_id,
  case when status = 'matched' then 'started' else status end as outcome, stake_usd_cents,
  updated_at, revision, opponent_player_id, partner_ref, result, end_reason, score,
  payout_usd_cents, refund_usd_cents, rake_usd_cents, started_at, ended_at, position
from seat
where partner_id = :partner_id and environment = :environment and position > :after
order by position
limit :page_size;

-- name: positions
select position
from seat
where partner_id = :partner_id and environment = :environment and position > :after
order by position
limit :page_size;

-- name: count_changed^
select cast(count(*) as bigint)
from seat
where partner_id = :partner_id and environment = :environment
  and rake_usd_cents is not null
  and updated_at >= :since and updated_at < :until;

-- name: changed
select match_id, player_id, status, result, payout_usd_cents, refund_usd_cents, rake_usd_cents
from seat
where partner_id = :partner_id and environment = :environment
  and rake_usd_cents is not null
  and updated_at >= :since and updated_at < :until
order by match_id, player_id;

-- The rows whose money is recorded are found by their time. A partner's other rows, which are few,
-- are all read: the conditions on status and rake repeat those of their index. PostgreSQL would
-- look for `min(position)` in the order of positions, through the whole feed. For `min(+position)`
-- it does not.
-- name: first_changed^
select min(position)
from (
  select min(+position) as position
  from seat
  where partner_id = :partner_id and environment = :environment
    and rake_usd_cents is not null
    and updated_at >= :since
  union all
  select min(+position)
  from seat
  where partner_id = :partner_id and environment = :environment
    and (status = 'matched' or status = 'ended' or status = 'no_contest')
    and rake_usd_cents is null
    and updated_at >= :since
) as firsts;
