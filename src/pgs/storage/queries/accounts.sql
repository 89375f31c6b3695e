-- Accounts, their keys, licences, origins and prices. The columns of keys, licences and prices are
-- selected in the order of the fields of their structs in pgs.domain.accounts.

-- name: insert_partner!
insert into partner ({columns of partner})
values ({values of partner});

-- name: update_partner!
update partner set {changes of partner}
where partner_id = :partner_id and revision = :was_revision;

-- name: partners
select {columns of partner}
from partner
order by partner_id;

-- A number that rises with each change of an account: a change raises the account's `revision` or
-- `event_seq`, and neither ever falls.
-- name: changes^
select cast(coalesce(sum(revision + event_seq), 0) as bigint) from partner;

-- name: versions
select partner_id, revision, event_seq from partner;

-- name: find_partner^
select {columns of partner}
from partner
where partner_id = :partner_id;

-- name: insert_key!
insert into api_key (partner_id, key_id, environment, label, key_hash, last4, created_at,
  revokes_at, created_by)
values (:partner_id, :key_id, :environment, :label, :key_hash, :last4, :created_at, :revokes_at,
  :created_by);

-- name: insert_key_index!
insert into key_index (key_hash, partner_id, key_id) values (:key_hash, :partner_id, :key_id);

-- name: schedule_revocation!
update api_key set revokes_at = :revokes_at where partner_id = :partner_id and key_id = :key_id;

-- name: keys
select partner_id, key_id, environment, label, key_hash, last4, created_at, revokes_at,
  created_by
from api_key
order by partner_id, created_at, key_id;

-- name: keys_of
select partner_id, key_id, environment, label, key_hash, last4, created_at, revokes_at,
  created_by
from api_key
where partner_id = :partner_id
order by created_at, key_id;

-- name: put_licence!
insert into licence (partner_id, game_id, test, live, note)
values (:partner_id, :game_id, :test, :live, :note)
on conflict (partner_id, game_id) do update set
  test = excluded.test, live = excluded.live, note = excluded.note;

-- name: licences
select partner_id, game_id, test, live, note from licence order by partner_id, game_id;

-- name: licences_of
select partner_id, game_id, test, live, note
from licence where partner_id = :partner_id order by game_id;

-- name: insert_origin!
insert into origin (partner_id, environment, origin, added_at)
values (:partner_id, :environment, :origin, :added_at);

-- name: delete_origin!
delete
from origin where partner_id = :partner_id and environment = :environment and origin = :origin;

-- name: origins
select partner_id, environment, origin
from origin order by partner_id, environment, added_at, origin;

-- name: origins_of
select partner_id, environment, origin
from origin where partner_id = :partner_id order by environment, added_at, origin;

-- name: delete_prices!
delete from price where partner_id = :partner_id and environment = :environment;

-- name: insert_price!
insert into price (partner_id, environment, tier_id, tier_revision, entry_usd_cents)
values (:partner_id, :environment, :tier_id, :tier_revision, :entry_usd_cents);

-- name: prices
select partner_id, environment, tier_id, tier_revision, entry_usd_cents
from price order by partner_id, environment, tier_id;

-- name: prices_of
select partner_id, environment, tier_id, tier_revision, entry_usd_cents
from price where partner_id = :partner_id order by environment, tier_id;

-- name: switched_off_with_open_seats
select distinct p.partner_id, s.environment
from partner p
join seat s on s.partner_id = p.partner_id and s.status in ('pending', 'waiting')
  and s.closing is null
where p.active = 0
order by p.partner_id, s.environment;

-- name: switched_off_with_running_matches
select distinct p.partner_id, m.environment
from partner p
join match m on m.partner_id = p.partner_id and m.status = 'started'
where p.active = 0
order by p.partner_id, m.environment;

-- name: open_seats
select environment, cast(count(*) as bigint)
from seat
where partner_id = :partner_id and status in ('pending', 'waiting') and status = 'waiting'
group by environment;

-- name: open_matches
select environment, cast(count(*) as bigint)
from match
where partner_id = :partner_id and status = 'started'
group by environment;
