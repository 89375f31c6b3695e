-- When keys were last used.

-- name: put_key_use!
insert into key_use (partner_id, key_id, used_at) values (:partner_id, :key_id, :used_at)
on conflict (partner_id, key_id) do update set used_at = excluded.used_at;

-- name: key_uses_of
select key_id, used_at from key_use where partner_id = :partner_id order by key_id;
