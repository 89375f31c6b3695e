-- Emergency stops whose open play is not closed yet.

-- name: put_stop!
insert into stop (partner_id, environment, generation, at)
values (:partner_id, :environment, :generation, :at)
on conflict (partner_id, environment) do update set
  generation = excluded.generation, at = excluded.at;

-- name: delete_stop!
delete from stop
where partner_id = :partner_id and environment = :environment and generation = :generation;

-- name: stops
select partner_id, environment, generation from stop order by partner_id, environment;

-- name: find_stop^
select generation from stop where partner_id = :partner_id and environment = :environment;
