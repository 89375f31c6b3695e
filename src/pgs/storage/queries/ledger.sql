-- The double-entry ledger.

-- name: insert_line!
insert into ledger (partner_id, transfer_id, line, environment, kind, account, seat_id, amount_usd_cents, at)
values (:partner_id, :transfer_id, :line, :environment, :kind, :account, :seat_id, :amount_usd_cents, :at);

-- name: unbalanced_transfers
select partner_id, transfer_id, cast(sum(amount_usd_cents) as bigint)
from ledger
group by partner_id, transfer_id
having sum(amount_usd_cents) <> 0
order by partner_id, transfer_id
limit :page_size;

-- name: balances
select environment, account, cast(sum(amount_usd_cents) as bigint), cast(count(*) as bigint)
from ledger
group by environment, account
order by environment, account;

-- name: open_escrow^
-- What the seats say is held: every confirmed stake whose money has not been recorded.
select cast(coalesce(sum(stake_usd_cents), 0) as bigint)
from seat
where stake_status = 'confirmed' and rake_usd_cents is null;

-- name: escrow^
select cast(coalesce(sum(amount_usd_cents), 0) as bigint) from ledger where account = 'escrow';

-- name: seats_charged_other_than_once
select s.partner_id, s.seat_id
from seat s
left join ledger l on l.partner_id = s.partner_id and l.transfer_id = ('charge:' || s.seat_id) and l.account = 'escrow'
where (s.confirmed_at is not null and (l.amount_usd_cents is null or l.amount_usd_cents <> s.stake_usd_cents))
  or (s.confirmed_at is null and l.amount_usd_cents is not null)
limit :page_size;
