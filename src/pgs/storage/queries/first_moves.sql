-- The number of a player's live matches of a game, and in how many of them the player moved first.

-- name: find_first_moves^
select matches, moved_first
from first_moves
where partner_id = :partner_id and environment = :environment and game_id = :game_id
  and player_id = :player_id;

-- name: count_match!
insert into first_moves (partner_id, environment, game_id, player_id, matches, moved_first)
values (:partner_id, :environment, :game_id, :player_id, 1, :moved_first)
on conflict (partner_id, environment, game_id, player_id) do update
set matches = first_moves.matches + 1, moved_first = first_moves.moved_first + excluded.moved_first;
