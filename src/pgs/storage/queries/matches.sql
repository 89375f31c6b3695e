-- Matches.

-- name: insert_match!
insert into match ({columns of match})
values ({values of match});

-- name: update_match!
update match set {changes of match}
where partner_id = :partner_id and match_id = :match_id and status = :was_status
  and money = :was_money;

-- name: find_match^
select {columns of match}
from match
where partner_id = :partner_id and match_id = :match_id;

-- name: due_matches
select partner_id, environment, match_id, due_at
from match
where due_at <= :until
  and (due_at, partner_id, match_id) > (:after_due_at, :after_partner_id, :after_row_id)
order by due_at, partner_id, match_id
limit :page_size;

-- name: unpaid^
select 1 from match where due_at is not null and money = 'due' limit 1;

-- name: next_due_match^
select min(due_at) from match where due_at is not null;

-- name: running_matches_after
select match_id
from match
where partner_id = :partner_id and environment = :environment and status = 'started'
  and match_id > :after
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
