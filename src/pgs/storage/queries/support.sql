-- Matches as support looks for them, by the seat that leads to each. A match is found by side 0, or
-- by the only seat of a match that never started.

-- name: matches
select seq, match_id
from seat
where partner_id = :partner_id and environment = :environment and seq < :before
  and match_id is not null and coalesce(side, 0) = 0
order by seq desc
limit :page_size;

-- name: matches_of_player
select seq, match_id
from seat
where partner_id = :partner_id and environment = :environment and player_id = :player_id
  and seq < :before and match_id is not null
order by seq desc
limit :page_size;

-- name: matches_by_reference
select seq, match_id
from seat
where partner_id = :partner_id and environment = :environment and partner_ref = :partner_ref
  and seq < :before and match_id is not null
order by seq desc
limit :page_size;

-- name: matches_by_id
select {columns of match}
from match
where partner_id = :partner_id and match_id in ({ids});

-- name: seats_by_match
select {columns of seat}
from seat
where partner_id = :partner_id and match_id in ({ids});

-- name: ledger_of_match
select l.seq, l.at, l.kind, l.debit, l.credit, l.seat_id, l.match_id, l.amount_usd_cents
from seat s
join ledger l on l.partner_id = s.partner_id and l.seat_id = s.seat_id
where s.partner_id = :partner_id and s.match_id = :match_id
order by l.seq;

-- name: nudges_of_match
select seq, attempt_id, nudge_id, at, try, delivered, status_code, duration_ms, response_body,
  match_id, test, error
from attempt
where partner_id = :partner_id and environment = :environment and match_id = :match_id
order by seq
limit :page_size;
