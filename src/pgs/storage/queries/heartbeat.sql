-- The write of the readiness check.

-- name: beat!
insert into heartbeat (name, beats) values ('readiness', 1)
on conflict (name) do update set beats = heartbeat.beats + 1;
