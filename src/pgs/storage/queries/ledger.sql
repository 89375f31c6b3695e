-- Rows of the ledger, and the queries that find faults in them and in what must agree with them:
-- heads, seats, matches, totals and invoices.

-- name: insert_row!
insert into ledger ({columns of ledger})
values ({values of ledger});

-- name: page
-- The rows of all ledgers in the order in which they were written.
select {columns of ledger}, row_id
from ledger
where row_id >= :first
order by row_id
limit :page_size;

-- name: page_of_one
-- The rows of one ledger by their number. This reads the rows of all ledgers, so only the search
-- for a known fault uses it.
select {columns of ledger}, row_id
from ledger
where partner_id = :partner_id and environment = :environment
  and (seq, row_id) > (:after_seq, :after_row_id)
order by seq, row_id
limit :page_size;

-- name: heads
-- Every ledger that has rows or should have some, with the number and the hash that its last row
-- must have: those of the head, or 0 and an empty hash where the head is missing.
select partner_id, environment, ledger_seq, ledger_hash from head
union all
select distinct l.partner_id, l.environment, 0, ''
from ledger l
where not exists (
  select 1 from head h where h.partner_id = l.partner_id and h.environment = l.environment)
order by 1, 2;

-- name: seats_by_head
-- Heads whose last seat number differs from the number of seats or from the highest seat number,
-- and seats without a head.
select h.partner_id, h.environment, h.seat_seq, count(distinct s.seq)
from head h
left join seat s on s.partner_id = h.partner_id and s.environment = h.environment
group by h.partner_id, h.environment, h.seat_seq
having count(distinct s.seq) <> h.seat_seq or count(s.seq) <> h.seat_seq
  or coalesce(max(s.seq), 0) <> h.seat_seq
union all
select s.partner_id, s.environment, 0, count(*)
from seat s
where not exists (
  select 1 from head h where h.partner_id = s.partner_id and h.environment = s.environment)
group by s.partner_id, s.environment
order by 1, 2
limit :page_size;

-- name: final_days
select partner_id, environment, final_day, final_seal from head order by partner_id, environment;

-- name: partners_without_a_row
-- Partners that have an event, a key or a member, but no row in `partner`. Every account gets an
-- event when it is created.
select known.partner_id
from (
  select partner_id from event
  union select partner_id from api_key
  union select partner_id from member
) as known
where not exists (select 1 from partner p where p.partner_id = known.partner_id)
order by known.partner_id
limit :page_size;

-- name: sums
select environment, cast(count(*) as bigint),
  cast(sum(case when kind = 'charge' then amount_usd_cents else 0 end) as bigint),
  cast(sum(case when kind = 'prize' then amount_usd_cents else 0 end) as bigint),
  cast(sum(case when kind = 'refund' then amount_usd_cents else 0 end) as bigint),
  cast(sum(case when kind = 'rake' then amount_usd_cents else 0 end) as bigint),
  cast(sum(case when kind = 'charge' then amount_usd_cents else -amount_usd_cents end) as bigint)
from ledger
group by environment
order by environment;

-- name: seats_booked_otherwise
-- Seats whose ledger rows differ from the stake, refund and rake of the seat, seats whose match
-- does not exist, seats that have money without a match, seats whose stake was confirmed but that
-- have no `confirmed_at`, and seats that have a `confirmed_at` although their stake was never
-- confirmed. A stake that was refunded had been confirmed before. The `prize` row of a seat must
-- have what remains of its stake after refund and rake.
select s.partner_id, s.environment, s.seat_id
from seat s
left join match m on m.partner_id = s.partner_id and m.match_id = s.match_id
left join ledger l on l.partner_id = s.partner_id and l.seat_id = s.seat_id
group by s.partner_id, s.environment, s.seat_id
having (s.match_id is not null and count(m.match_id) = 0)
  or (s.match_id is null
    and coalesce(s.payout_usd_cents, s.refund_usd_cents, s.rake_usd_cents) is not null)
  or (s.confirmed_at is null) <> (s.stake_status not in ('confirmed', 'refunded'))
  or sum(case when l.kind = 'charge' then l.amount_usd_cents else 0 end)
    <> case when s.confirmed_at is null then 0 else s.stake_usd_cents end
  or sum(case when l.kind = 'refund' then l.amount_usd_cents else 0 end)
    <> coalesce(s.refund_usd_cents, 0)
  or sum(case when l.kind = 'rake' then l.amount_usd_cents else 0 end)
    <> coalesce(s.rake_usd_cents, 0)
  or sum(case when l.kind = 'prize' then l.amount_usd_cents else 0 end)
    <> case when s.rake_usd_cents is null then 0
      else s.stake_usd_cents - s.refund_usd_cents - s.rake_usd_cents end
order by s.partner_id, s.environment, s.seat_id
limit :page_size;

-- name: matches_that_do_not_add_up
-- Matches that break one of these rules. Every match has seats, and their environment, status,
-- prize, end and results agree with it. Before its money is recorded, its seats have no payout,
-- refund or rake. Afterwards the stakes equal payouts, refunds and rake together: either the winner
-- has the whole prize, or every stake was refunded.
select m.partner_id, m.match_id
from match m
left join seat s on s.partner_id = m.partner_id and s.match_id = m.match_id
group by m.partner_id, m.match_id, m.environment, m.status, m.money, m.winner_player_id,
  m.prize_usd_cents, m.ended_at, m.end_reason
having count(s.seat_id) = 0
  or sum(case when s.environment <> m.environment then 1 else 0 end) > 0
  or sum(case when s.prize_usd_cents <> m.prize_usd_cents
    or coalesce(s.ended_at, -1) <> coalesce(m.ended_at, -1)
    or coalesce(s.end_reason, '') <> coalesce(m.end_reason, '')
    or coalesce(s.result, '') <> case
      when m.status <> 'ended' then ''
      when m.winner_player_id is null then 'drawn'
      when m.winner_player_id = s.player_id then 'won'
      else 'lost' end
    then 1 else 0 end) > 0
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

-- name: stray_rows
-- Rows without a seat, rows whose environment or match differs from that of their seat, and rows
-- whose accounts do not fit their kind.
select l.partner_id, l.environment, l.seq
from ledger l
left join seat s on s.partner_id = l.partner_id and s.seat_id = l.seat_id
left join match m on m.partner_id = l.partner_id and m.match_id = l.match_id
where s.seat_id is null
  or l.environment <> s.environment
  or (l.kind = 'charge' and (l.match_id is not null or l.credit <> 'escrow'
    or l.debit <> ('player:' || s.player_id)))
  or (l.kind <> 'charge' and (l.match_id is null or l.debit <> 'escrow'
    or l.match_id <> s.match_id))
  or (l.kind = 'refund' and l.credit <> ('player:' || s.player_id))
  or (l.kind = 'prize' and l.credit <> ('player:' || m.winner_player_id))
  or (l.kind = 'rake' and l.credit <> 'rake')
order by l.partner_id, l.environment, l.seq
limit :page_size;

-- name: days_that_do_not_add_up
-- Days of a game and tier whose totals differ from the seats and matches that are booked on them.
-- The figures of seats and matches are subtracted from the totals: if they agree, zero is left.
select partner_id, environment, day, game_id, tier_id
from (
  select partner_id, environment, day, game_id, tier_id, {figures of totals}
  from totals
  union all
  select partner_id, environment, confirmed_at / 86400, game_id, tier_id,
    0, 0, 0, 0, 0, 0, 0,
    -1,
    case when stake_status = 'refunded' then -1 else 0 end,
    -stake_usd_cents,
    case when rake_usd_cents is null then 0
      else refund_usd_cents + rake_usd_cents - stake_usd_cents end,
    -coalesce(refund_usd_cents, 0),
    -coalesce(rake_usd_cents, 0)
  from seat
  where confirmed_at is not null
  union all
  select m.partner_id, m.environment, m.ended_at / 86400, m.game_id, m.tier_id,
    case when m.status = 'ended' then -1 else 0 end,
    case when m.status = 'no_contest' then -1 else 0 end,
    -count(s.seat_id),
    -sum(s.stake_usd_cents),
    sum(s.refund_usd_cents + s.rake_usd_cents - s.stake_usd_cents),
    -sum(s.refund_usd_cents),
    -sum(s.rake_usd_cents),
    0, 0, 0, 0, 0, 0
  from match m
  join seat s on s.partner_id = m.partner_id and s.match_id = m.match_id
  where m.money = 'recorded'
  group by m.partner_id, m.environment, m.match_id, m.ended_at, m.game_id, m.tier_id, m.status
) as both_sides
group by partner_id, environment, day, game_id, tier_id
having {unequal totals}
order by partner_id, environment, day, game_id, tier_id
limit :page_size;

-- name: invoices_that_do_not_add_up
-- Invoices that break one of these rules. An invoice's number, total and times agree with its
-- status. The numbers of invoices have no gaps. Every line has an invoice. Total and count of a
-- final invoice equal those of its lines. Each line bills what the totals of its day say, and
-- totals that name an invoice have a line in it.
select partner_id, environment, invoice_id
from (
  select partner_id, environment, invoice_id
  from invoice
  where (status = 'draft') <> (number is null)
    or (status = 'draft') <> (total_usd_cents is null)
    or (status = 'draft') <> (finalized_at is null)
    or (status = 'paid') <> (paid_at is not null)
    or (status = 'void') <> (voided_at is not null)
  union
  select i.partner_id, i.environment, i.invoice_id
  from invoice i
  where i.number > 1 and not exists (
    select 1 from invoice b where b.partner_id = i.partner_id and b.environment = i.environment
      and b.number = i.number - 1)
  union
  select l.partner_id, 'unknown', l.invoice_id
  from invoice_line l
  left join invoice i on i.partner_id = l.partner_id and i.invoice_id = l.invoice_id
  where i.invoice_id is null
  union
  select i.partner_id, i.environment, i.invoice_id
  from invoice i
  left join invoice_line l on l.partner_id = i.partner_id and l.invoice_id = i.invoice_id
  where i.status <> 'draft'
  group by i.partner_id, i.environment, i.invoice_id, i.total_usd_cents, i.line_count
  having count(l.line_id) <> coalesce(i.line_count, -1)
    or coalesce(sum(l.amount_usd_cents), 0) <> coalesce(i.total_usd_cents, -1)
  union
  select i.partner_id, i.environment, i.invoice_id
  from invoice i
  join invoice_line l on l.partner_id = i.partner_id and l.invoice_id = i.invoice_id
  left join totals t on t.partner_id = i.partner_id and t.environment = i.environment
    and t.day = l.day and t.game_id = l.game_id and t.tier_id = l.tier_id
  where t.day is null or l.amount_usd_cents <> t.match_rake_usd_cents or l.matches <> t.matches
    or (i.status <> 'void' and coalesce(t.invoice_id, '') <> i.invoice_id)
    or (i.status = 'void' and t.invoice_id = i.invoice_id)
  union
  select t.partner_id, t.environment, t.invoice_id
  from totals t
  left join invoice_line l on l.partner_id = t.partner_id and l.invoice_id = t.invoice_id
    and l.day = t.day and l.game_id = t.game_id and l.tier_id = t.tier_id
  where t.invoice_id is not null and l.line_id is null
) as wrong
order by partner_id, environment, invoice_id
limit :page_size;
