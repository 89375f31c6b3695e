-- Tiers and their locks, which belong to the platform.

-- name: tiers
select environment, tier_id, revision, name, floor_usd_cents, prize_usd_cents
from tier
order by environment, tier_id, revision;

-- name: locks
select environment, tier_id, game_id from tier_lock order by environment, tier_id, game_id;

-- name: insert_revision!
insert into tier (environment, tier_id, revision, name, floor_usd_cents, prize_usd_cents,
  created_at)
values (:environment, :tier_id, :revision, :name, :floor_usd_cents, :prize_usd_cents, :created_at);

-- name: insert_lock!
insert into tier_lock (environment, tier_id, game_id) values (:environment, :tier_id, :game_id);

-- name: delete_lock!
delete
from tier_lock where environment = :environment and tier_id = :tier_id and game_id = :game_id;
