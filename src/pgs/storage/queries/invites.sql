-- Invites. Columns are selected in the order of the fields in pgs.domain.invites.

-- name: insert_invite!
insert into invite (partner_id, invite_id, email, role, created_at, expires_at, accepted_by,
  revoked_at, seq)
values (:partner_id, :invite_id, :email, :role, :created_at, :expires_at, null, null, :seq);

-- name: insert_invite_index!
insert into invite_index (invite_id, partner_id) values (:invite_id, :partner_id);

-- name: find_account_of^
select partner_id from invite_index where invite_id = :invite_id;

-- name: find_invite^
select invite_id, email, role, created_at, expires_at, accepted_by, revoked_at
from invite
where partner_id = :partner_id and invite_id = :invite_id;

-- name: invites_page
select seq, invite_id, email, role, created_at, expires_at, accepted_by, revoked_at
from invite
where partner_id = :partner_id and seq < :before
order by seq desc
limit :page_size;

-- name: count_invites^
select count(*) from invite where partner_id = :partner_id;

-- name: oldest_closed^
select invite_id
from invite
where partner_id = :partner_id and (accepted_by is not null or revoked_at is not null
  or expires_at <= :now)
order by seq
limit 1;

-- name: delete_invite!
delete from invite where partner_id = :partner_id and invite_id = :invite_id;

-- name: delete_invite_index!
delete from invite_index where invite_id = :invite_id and partner_id = :partner_id;

-- name: accept_invite!
update invite set accepted_by = :uid
where partner_id = :partner_id and invite_id = :invite_id and accepted_by is null
  and revoked_at is null;

-- name: revoke_invite!
update invite set revoked_at = :at
where partner_id = :partner_id and invite_id = :invite_id and accepted_by is null
  and revoked_at is null;

-- name: pending_for_address
select partner_id, invite_id, email, role, created_at, expires_at, accepted_by, revoked_at
from invite
where lower(email) = :address and accepted_by is null and revoked_at is null
  and expires_at > :now
  and (expires_at < :before or (expires_at = :before and invite_id > :after))
order by expires_at desc, invite_id
limit :page_size;
