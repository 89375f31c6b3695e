-- How many live matches a player has started, and in how many of them the player moved first.

-- name: find_openings^
select matches, begun
from opening
where partner_id = :partner_id and environment = :environment and game_id = :game_id
  and player_id = :player_id;

-- name: count_opening!
insert into opening (partner_id, environment, game_id, player_id, matches, begun)
values (:partner_id, :environment, :game_id, :player_id, 1, :begun)
on conflict (partner_id, environment, game_id, player_id) do update
set matches = opening.matches + 1, begun = opening.begun + excluded.begun;
