-- The double-entry ledger.

-- name: insert_line!
insert into ledger (partner_id, transfer_id, line, environment, kind, account, seat_id,
  amount_usd_cents, at)
values (:partner_id, :transfer_id, :line, :environment, :kind, :account, :seat_id,
  :amount_usd_cents, :at);

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
-- The stakes that escrow should hold: those that are confirmed and not yet settled.
select cast(coalesce(sum(stake_usd_cents), 0) as bigint)
from seat
where stake_status = 'confirmed' and rake_usd_cents is null;

-- name: escrow^
select cast(coalesce(sum(amount_usd_cents), 0) as bigint) from ledger where account = 'escrow';

-- name: seats_charged_other_than_once
select s.partner_id, s.seat_id
from seat s
left join ledger l on l.partner_id = s.partner_id and l.transfer_id = ('charge:' || s.seat_id)
  and l.account = 'escrow'
group by s.partner_id, s.seat_id, s.confirmed_at, s.stake_usd_cents
having coalesce(sum(l.amount_usd_cents), 0) <> case when s.confirmed_at is null
  then 0 else s.stake_usd_cents end
order by s.partner_id, s.seat_id
limit :page_size;

-- name: seats_settled_other_than_booked
-- Seats whose payout, refund or rake differs from the lines of their match's settlement, whose
-- settlement has not emptied their escrow, whose stake status contradicts the time of confirmation,
-- or whose match does not exist.
select s.partner_id, s.seat_id
from seat s
left join match m on m.partner_id = s.partner_id and m.match_id = s.match_id
left join ledger l on l.partner_id = s.partner_id
  and l.transfer_id = ('settlement:' || s.match_id) and l.seat_id = s.seat_id
group by
  s.partner_id, s.seat_id, s.match_id, m.match_id, s.stake_usd_cents, s.stake_status,
    s.confirmed_at, s.payout_usd_cents, s.refund_usd_cents,
  s.rake_usd_cents
having (s.match_id is not null and m.match_id is null)
  or (s.confirmed_at is null and s.stake_status in ('confirmed', 'refunded'))
  or (s.confirmed_at is not null and s.stake_status not in ('confirmed', 'refunded'))
  or coalesce(sum(case when l.account = 'escrow' then l.amount_usd_cents else 0 end), 0)
    <> case when s.rake_usd_cents is null then 0 else -s.stake_usd_cents end
  or coalesce(sum(case when l.account = 'player' then l.amount_usd_cents else 0 end), 0)
    <> coalesce(s.payout_usd_cents, 0) + coalesce(s.refund_usd_cents, 0)
  or coalesce(sum(case when l.account = 'rake'
    then l.amount_usd_cents else 0 end), 0) <> coalesce(s.rake_usd_cents, 0)
order by s.partner_id, s.seat_id
limit :page_size;

-- name: matches_that_do_not_add_up
-- Matches that break one of these rules. Every match has seats, and their environment and status
-- agree with it. Before its money is recorded, its seats have no payout, refund or rake. Afterwards
-- the stakes equal payouts, refunds and rake together: either the winner has the whole prize, or
-- every stake was refunded.
select m.partner_id, m.match_id
from match m
left join seat s on s.partner_id = m.partner_id and s.match_id = m.match_id
group by m.partner_id, m.match_id, m.environment, m.status, m.money, m.winner_player_id,
  m.prize_usd_cents
having count(s.seat_id) = 0
  or sum(case when s.environment <> m.environment then 1 else 0 end) > 0
  or sum(case when s.status <> case when m.status = 'started' then 'matched' else m.status end
    then 1 else 0 end) > 0
  or (m.status = 'started' and m.money <> 'none')
  or (m.status <> 'started' and m.money = 'none')
  or (m.money <> 'recorded'
    and count(s.payout_usd_cents) + count(s.refund_usd_cents) + count(s.rake_usd_cents) > 0)
  or (m.money = 'recorded' and (
    count(s.payout_usd_cents) + count(s.refund_usd_cents) + count(s.rake_usd_cents)
      <> 3 * count(s.seat_id)
    or sum(s.stake_usd_cents)
      <> sum(s.payout_usd_cents) + sum(s.refund_usd_cents) + sum(s.rake_usd_cents)
    or (m.winner_player_id is not null and (
      sum(s.payout_usd_cents) <> m.prize_usd_cents
      or sum(case when s.player_id = m.winner_player_id
        then s.payout_usd_cents else 0 end) <> m.prize_usd_cents
      or sum(s.refund_usd_cents) <> 0))
    or (m.winner_player_id is null and sum(case when s.refund_usd_cents <> s.stake_usd_cents
      then 1 else 0 end) > 0)))
order by m.partner_id, m.match_id
limit :page_size;

-- name: stray_lines
-- Lines that belong neither to their seat's charge nor to its match's settlement.
select l.partner_id, l.transfer_id, l.line
from ledger l
left join seat s on s.partner_id = l.partner_id and s.seat_id = l.seat_id
where s.seat_id is null
  or l.environment <> s.environment
  or (l.kind = 'charge' and (l.transfer_id <> ('charge:' || s.seat_id) or l.account = 'rake'))
  or (l.kind = 'settlement' and (s.match_id is null
    or l.transfer_id <> ('settlement:' || s.match_id)))
order by l.partner_id, l.transfer_id, l.line
limit :page_size;
