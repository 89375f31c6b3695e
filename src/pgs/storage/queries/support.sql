-- Matches for the searches of support, found by their seats. The rows of some blocks of seats are
-- read and sorted, the newest first; pgs.storage.support says how many. These queries find only
-- seats whose money is recorded. Their condition on the rake repeats that of the index, so that the
-- database uses the index. The first query takes the seat of side 0, or the only seat of a match
-- that never started, so that it finds each match once.

-- name: matches
with recursive block (number) as (
  select cast(:first_block as bigint)
  union all select number + 1 from block where number < :last_block
)
select seat.seq, seat.match_id
from block cross join seat
where seat.partner_id = :partner_id and seat.environment = :environment
  and seat.seq / 256 = +block.number
  and seat.seq < :before and seat.rake_usd_cents is not null
  and coalesce(seat.side, 0) = 0
order by seat.seq desc
limit :page_size;

-- name: matches_of_player
with recursive block (number) as (
  select cast(:first_block as bigint)
  union all select number + 1 from block where number < :last_block
)
select seat.seq, seat.match_id
from block cross join seat
where seat.partner_id = :partner_id and seat.environment = :environment
  and seat.seq / 256 = +block.number and seat.player_id = :player_id
  and seat.seq < :before and seat.rake_usd_cents is not null
order by seat.seq desc
limit :page_size;

-- name: matches_by_reference
with recursive block (number) as (
  select cast(:first_block as bigint)
  union all select number + 1 from block where number < :last_block
)
select seat.seq, seat.match_id
from block cross join seat
where seat.partner_id = :partner_id and seat.environment = :environment
  and seat.seq / 256 = +block.number and seat.partner_ref = :partner_ref
  and seat.seq < :before and seat.rake_usd_cents is not null
order by seat.seq desc
limit :page_size;

-- The same lists for seats in a match whose money is not recorded yet, in the same blocks. The
-- conditions on status and rake repeat those of the index. The queries without a player look
-- through all such seats of the environment, which are usually few. All three return only seats of
-- the blocks, in no particular order.

-- name: matches_unrecorded
select seq, match_id
from seat
where partner_id = :partner_id and environment = :environment
  and (status = 'matched' or status = 'ended' or status = 'no_contest')
  and rake_usd_cents is null
  and seq >= :first_seq and seq < :before
  and coalesce(side, 0) = 0;

-- name: matches_of_player_unrecorded
select seq, match_id
from seat
where partner_id = :partner_id and environment = :environment and player_id = :player_id
  and (status = 'matched' or status = 'ended' or status = 'no_contest')
  and rake_usd_cents is null
  and seq >= :first_seq and seq < :before;

-- name: matches_by_reference_unrecorded
select seq, match_id
from seat
where partner_id = :partner_id and environment = :environment and partner_ref = :partner_ref
  and (status = 'matched' or status = 'ended' or status = 'no_contest')
  and rake_usd_cents is null
  and seq >= :first_seq and seq < :before;

-- Matches by their time. An id begins with the time at which it was made, so the ids of running
-- matches are in the order of their time.

-- name: running_by_time
select match_id
from match
where partner_id = :partner_id and environment = :environment and status = 'started'
  and match_id >= :first_id and match_id < :before_id
order by match_id desc
limit :page_size offset :skipped;

-- name: ended_by_time
select ended_at, match_id
from match
where partner_id = :partner_id and environment = :environment and status = 'ended'
  and (ended_at, match_id) < (:before_ended_at, :before_match_id) and ended_at >= :since
order by ended_at desc, match_id desc
limit :page_size offset :skipped;

-- name: no_contest_by_time
select ended_at, match_id
from match
where partner_id = :partner_id and environment = :environment and status = 'no_contest'
  and (ended_at, match_id) < (:before_ended_at, :before_match_id) and ended_at >= :since
order by ended_at desc, match_id desc
limit :page_size offset :skipped;

-- The same lists for one game or tier. Each query reads a bounded number of matches, and returns
-- those of the game or tier.

-- name: running_scanned
select match_id
from (
  select match_id, game_id, tier_id
  from match
  where partner_id = :partner_id and environment = :environment and status = 'started'
    and match_id >= :first_id and match_id < :before_id
  order by match_id desc
  limit :scanned
) as scanned
where (cast(:game_id as text) is null or game_id = :game_id)
  and (cast(:tier_id as text) is null or tier_id = :tier_id)
order by match_id desc
limit :page_size;

-- name: ended_scanned
select ended_at, match_id
from (
  select ended_at, match_id, game_id, tier_id
  from match
  where partner_id = :partner_id and environment = :environment and status = 'ended'
    and (ended_at, match_id) < (:before_ended_at, :before_match_id) and ended_at >= :since
  order by ended_at desc, match_id desc
  limit :scanned
) as scanned
where (cast(:game_id as text) is null or game_id = :game_id)
  and (cast(:tier_id as text) is null or tier_id = :tier_id)
order by ended_at desc, match_id desc
limit :page_size;

-- name: no_contest_scanned
select ended_at, match_id
from (
  select ended_at, match_id, game_id, tier_id
  from match
  where partner_id = :partner_id and environment = :environment and status = 'no_contest'
    and (ended_at, match_id) < (:before_ended_at, :before_match_id) and ended_at >= :since
  order by ended_at desc, match_id desc
  limit :scanned
) as scanned
where (cast(:game_id as text) is null or game_id = :game_id)
  and (cast(:tier_id as text) is null or tier_id = :tier_id)
order by ended_at desc, match_id desc
limit :page_size;

-- name: matches_by_id
select {columns of match}
from match
where partner_id = :partner_id and match_id in ({ids});

-- name: seats_by_match
select {columns of seat}
from seat
where partner_id = :partner_id and match_id in ({ids});

-- name: ledger_of_match
select l.seq, l.at, l.kind, l.debit, l.credit, l.seat_id, l.match_id, l.amount_usd_cents
from seat s
join ledger l on l.partner_id = s.partner_id and l.seat_id = s.seat_id
where s.partner_id = :partner_id and s.match_id = :match_id
order by l.seq;

-- name: nudges_of_match
select seq, attempt_id, nudge_id, at, try, delivered, status_code, duration_ms, response_body,
  match_id, test, error, resend
from attempt
where partner_id = :partner_id and environment = :environment and match_id = :match_id
order by seq
limit :page_size;

-- Seats that are in no match yet, by player and sequence. A query for a reference reads a bounded
-- number of seats, because an index of references would add a write to every new seat.

-- name: open_seats
select {columns of seat}
from (
  select {columns of seat}
  from seat
  where partner_id = :partner_id and environment = :environment
    and status in ('pending', 'waiting')
    and (player_id, seq) > (:after_player_id, :after_seq)
  order by player_id, seq
  limit :scanned
) as scanned
where (cast(:partner_ref as text) is null or partner_ref = :partner_ref)
order by player_id, seq
limit :page_size;

-- name: open_seat_places
select player_id, seq
from seat
where partner_id = :partner_id and environment = :environment
  and status in ('pending', 'waiting')
  and (player_id, seq) > (:after_player_id, :after_seq)
order by player_id, seq
limit :page_size offset :skipped;

-- name: open_seats_of_player
select {columns of seat}
from seat
where partner_id = :partner_id and environment = :environment
  and status in ('pending', 'waiting')
  and player_id = :player_id and seq > :after_seq
order by player_id, seq
limit :page_size;
