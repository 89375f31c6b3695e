-- The write of the readiness check, the time of the newest row, and the count of what the writers
-- have committed.

-- name: beat!
insert into heartbeat (name, beats) values ('readiness', 1)
on conflict (name) do update set beats = heartbeat.beats + 1;

-- The newest seat is the one with the highest id, since ids begin with the time. The newest event
-- of each account and the newest row of each feed are looked up one by one: for a join, SQLite
-- would scan all seats.
-- name: newest_row^
select max(newest.at) from (
  select (select event.at from event
    where event.partner_id = partner.partner_id and event.seq = partner.event_seq) as at
  from partner
  union all
  select seated_at as at from seat where seat_id = (select max(seat_id) from seat)
  union all
  select (select seat.updated_at from seat
    where seat.partner_id = head.partner_id and seat.environment = head.environment
      and seat.position = head.feed_position) as at
  from head
) as newest;

-- name: count_write^
-- With SQLite, the writer executes this with each group that it commits. With PostgreSQL, only
-- `pgs db accept-loss` executes this, once.
insert into heartbeat (name, beats) values ('writes', 1)
on conflict (name) do update set beats = heartbeat.beats + 1
returning beats;

-- name: count_write_of^
-- With PostgreSQL, each writer executes this with each group that it commits. A service without
-- other nodes counts in the row `writes`, and each of several nodes in a row of its own.
insert into heartbeat (name, beats) values (:name, 1)
on conflict (name) do update set beats = heartbeat.beats + 1
returning beats;

-- name: writes^
select beats from heartbeat where name = 'writes';
