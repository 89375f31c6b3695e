-- Members' authenticators. Columns are selected in the order of the fields in pgs.domain.factors.

-- name: find_factor^
select sealed_secret, last_step, wrong_codes, locked_until, windows, pending_sealed_secret, locks
from factor
where partner_id = :partner_id and uid = :uid;

-- name: put_factor!
insert into factor (partner_id, uid, sealed_secret, last_step, wrong_codes, locked_until,
  windows, pending_sealed_secret, locks)
values (:partner_id, :uid, :sealed_secret, :last_step, :wrong_codes, :locked_until, :windows,
  :pending_sealed_secret, :locks)
on conflict (partner_id, uid) do update set
  sealed_secret = excluded.sealed_secret, last_step = excluded.last_step,
    wrong_codes = excluded.wrong_codes,
  locked_until = excluded.locked_until, windows = excluded.windows,
    pending_sealed_secret = excluded.pending_sealed_secret, locks = excluded.locks;

-- name: delete_factor!
delete from factor where partner_id = :partner_id and uid = :uid;

-- name: list_enrolled
select uid from factor where partner_id = :partner_id and sealed_secret is not null;

-- name: admin_has_factor^
select factor.uid
from factor
join member on member.partner_id = factor.partner_id and member.uid = factor.uid
where factor.partner_id = :partner_id and member.role = 'admin'
  and factor.sealed_secret is not null
limit 1;
