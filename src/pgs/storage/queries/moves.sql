-- Running matches: who has joined, the moves, and when a match next needs attention.

-- name: put_attendance!
insert into presence (partner_id, match_id, came_0_ms, came_1_ms, clocks_ms, name_0, name_1)
values (:partner_id, :match_id, :came_0_ms, :came_1_ms, :clocks_ms, :name_0, :name_1)
on conflict (partner_id, match_id) do update set
  came_0_ms = excluded.came_0_ms, came_1_ms = excluded.came_1_ms, clocks_ms = excluded.clocks_ms,
  name_0 = excluded.name_0, name_1 = excluded.name_1;

-- name: find_attendance^
select came_0_ms, came_1_ms, clocks_ms, name_0, name_1
from presence where partner_id = :partner_id and match_id = :match_id;

-- name: insert_move!
insert into move (partner_id, match_id, ply, side, move, at_ms, left_0_ms, left_1_ms)
values (:partner_id, :match_id, :ply, :side, :move, :at_ms, :left_0_ms, :left_1_ms);

-- name: moves_of_match
select ply, side, move, at_ms, left_0_ms, left_1_ms
from move
where partner_id = :partner_id and match_id = :match_id
order by ply;

-- name: set_due!
update match set due_at = :due_at
where partner_id = :partner_id and match_id = :match_id and status = 'started';

-- name: expecting_seats_of_player
select seat_id, status
from seat
where partner_id = :partner_id and environment = :environment and player_id = :player_id
  and status in ('pending', 'waiting')
order by seq
limit :page_size;

-- The first condition on the status repeats that of the index, so that the index is used.
-- name: oldest_waiting_seat_of_player^
select {columns of seat}
from seat
where partner_id = :partner_id and environment = :environment and player_id = :player_id
  and status in ('pending', 'waiting') and status = 'waiting'
order by seq
limit 1;

-- The condition on the rake repeats that of the index, so that the index is used.
-- name: running_seats_of_player
select seat_id, match_id
from seat
where partner_id = :partner_id and environment = :environment and player_id = :player_id
  and status = 'matched' and rake_usd_cents is null
order by seq
limit :page_size;
