-- Matches. Column order is that of pgs.domain.seats.Match.

-- name: insert_match!
insert into match (
  partner_id, environment, match_id, game_id, tier_id, tier_revision, prize_usd_cents, status, end_reason, started_at, ended_at,
  winner_player_id, pairing, money, due_at
) values (
  :partner_id, :environment, :match_id, :game_id, :tier_id, :tier_revision, :prize_usd_cents, :status, :end_reason, :started_at,
  :ended_at, :winner_player_id, :pairing, :money, :due_at
);

-- name: update_match!
update match set
  status = :status, end_reason = :end_reason, started_at = :started_at, ended_at = :ended_at,
  winner_player_id = :winner_player_id, pairing = :pairing, money = :money, due_at = :due_at
where partner_id = :partner_id and match_id = :match_id and status = :was_status and money = :was_money;

-- name: find_match^
select
  partner_id, environment, match_id, game_id, tier_id, tier_revision, prize_usd_cents, status, end_reason, started_at, ended_at,
  winner_player_id, pairing, money, due_at
from match
where partner_id = :partner_id and match_id = :match_id;

-- name: due_matches
select partner_id, environment, match_id, due_at
from match
where due_at <= :until and (due_at, partner_id, match_id) > (:after_due_at, :after_partner_id, :after_row_id)
order by due_at, partner_id, match_id
limit :page_size;

-- name: unpaid^
select 1 from match where due_at is not null and money = 'due' limit 1;

-- name: next_due_match^
select min(due_at) from match where due_at is not null;

-- name: running_matches_after
select match_id
from match
where partner_id = :partner_id and environment = :environment and status = 'started' and match_id > :after
order by match_id
limit :page_size;

-- name: running_games
select distinct game_id from match where status = 'started' order by game_id;

-- name: running_matches_of_game
select partner_id, environment, match_id
from match
where status = 'started' and game_id = :game_id
  and (partner_id, environment, match_id) > (:after_partner_id, :after_environment, :after_match_id)
order by partner_id, environment, match_id
limit :page_size;
