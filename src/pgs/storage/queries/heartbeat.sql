-- The write of the readiness check, and the count of what the writer has committed.

-- name: beat!
insert into heartbeat (name, beats) values ('readiness', 1)
on conflict (name) do update set beats = heartbeat.beats + 1;

-- The newest seat is the one with the highest id, since ids begin with the time.
-- name: newest_row^
select max(newest.at) from (
  select event.at as at
  from partner join event on event.partner_id = partner.partner_id
    and event.seq = partner.event_seq
  union all
  select seat.seated_at as at
  from partner join seat on seat.partner_id = partner.partner_id
    and seat.seat_id = (select max(last.seat_id) from seat as last
      where last.partner_id = partner.partner_id)
  union all
  select seat.updated_at as at
  from head join seat on seat.partner_id = head.partner_id
    and seat.environment = head.environment and seat.position = head.feed_position
) as newest;

-- name: count_write^
-- Part of whatever the writer commits.
insert into heartbeat (name, beats) values ('writes', 1)
on conflict (name) do update set beats = heartbeat.beats + 1
returning beats;

-- name: writes^
select beats from heartbeat where name = 'writes';
