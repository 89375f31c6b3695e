-- Advances the heads of a restored copy before a partner's rows are read or written, and reads what
-- a copy must have in common with its original.

-- name: add_missing_heads!
insert into head (partner_id, environment, seat_seq, feed_position, ledger_seq, ledger_hash,
  final_day)
select p.partner_id, e.environment, 0, 0, 0, '', 0
from partner p
cross join (select 'test' as environment union all select 'live' as environment) e
where not exists (select 1 from head h where h.partner_id = p.partner_id
  and h.environment = e.environment);

-- name: advance_feed_heads!
update head set
  feed_position = case when feed_position > :floor then feed_position else :floor end + :gap;

-- name: heads
select partner_id, environment, seat_seq, feed_position, ledger_seq, ledger_hash, final_day
from head
order by partner_id, environment;

-- name: counts
select 'seats', count(*) from seat
union all
select 'ledger', count(*) from ledger
order by 1;
