-- Seats, which are also the rows of the results feed.

-- name: insert_seat!
insert into seat ({columns of seat})
values ({values of seat});

-- name: update_seat!
update seat set {changes of seat}
where partner_id = :partner_id and seat_id = :seat_id and status = :was_status
  and revision = :was_revision;

-- name: update_seat_in_match!
-- This statement names only the columns that can still change, because SQLite writes every index of
-- a named column, even if the value stays the same.
update seat set {changes of seat in match}
where partner_id = :partner_id and seat_id = :seat_id and status = :was_status
  and revision = :was_revision;

-- name: find_seat^
select {columns of seat}
from seat
where partner_id = :partner_id and seat_id = :seat_id;

-- name: find_by_idempotency_key^
select {columns of seat}
from seat
where partner_id = :partner_id and environment = :environment
  and idempotency_key = :idempotency_key;

-- name: waiting_seats
select {columns of seat}
from seat
where partner_id = :partner_id and environment = :environment
  and status in ('pending', 'waiting') and status = 'waiting';

-- name: seats_of_match
select {columns of seat}
from seat
where partner_id = :partner_id and match_id = :match_id
order by side, seq;

-- The condition on the rake repeats that of the index, so that the index is used.
-- name: seats_in_play
select player_id, seat_id
from seat
where partner_id = :partner_id and environment = :environment
  and status = 'matched' and rake_usd_cents is null;

-- name: due_seats
select partner_id, environment, seat_id, due_at
from seat
where due_at <= :until
  and (due_at, partner_id, seat_id) > (:after_due_at, :after_partner_id, :after_row_id)
order by due_at, partner_id, seat_id
limit :page_size;

-- name: next_due_seat^
select min(due_at) from seat where due_at is not null;

-- name: open_seats_after
select player_id, seq, seat_id
from seat
where partner_id = :partner_id and environment = :environment
  and status in ('pending', 'waiting') and closing is null
  and (player_id, seq) > (:after_player_id, :after_seq)
order by player_id, seq
limit :page_size;

-- name: find_head^
select seat_seq, feed_position, ledger_seq, ledger_hash, final_day
from head where partner_id = :partner_id and environment = :environment;

-- name: heads_before
select partner_id, environment
from head
where final_day < :day and (partner_id, environment) > (:after_partner_id, :after_environment)
order by partner_id, environment
limit :page_size;

-- name: move_head!
-- For a head that has a row. It takes less work than the next statement.
update head
set seat_seq = :seat_seq, feed_position = :feed_position, ledger_seq = :ledger_seq,
  ledger_hash = :ledger_hash, final_day = :final_day, final_seal = :final_seal
where partner_id = :partner_id and environment = :environment
  and seat_seq = :was_seat_seq and feed_position = :was_feed_position
  and ledger_seq = :was_ledger_seq and final_day = :was_final_day;

-- name: begin_head!
-- For a head that may not have a row yet.
insert into head (partner_id, environment, seat_seq, feed_position, ledger_seq, ledger_hash,
  final_day, final_seal)
values (:partner_id, :environment, :seat_seq, :feed_position, :ledger_seq, :ledger_hash,
  :final_day, :final_seal)
on conflict (partner_id, environment) do update
set seat_seq = excluded.seat_seq, feed_position = excluded.feed_position,
  ledger_seq = excluded.ledger_seq, ledger_hash = excluded.ledger_hash,
  final_day = excluded.final_day, final_seal = excluded.final_seal
where head.seat_seq = :was_seat_seq and head.feed_position = :was_feed_position
  and head.ledger_seq = :was_ledger_seq and head.final_day = :was_final_day;
