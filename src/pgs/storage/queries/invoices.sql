-- Invoices and their lines.

-- name: insert_invoice!
insert into invoice ({columns of invoice})
values ({values of invoice});

-- name: update_invoice!
update invoice set {changes of invoice}
where partner_id = :partner_id and invoice_id = :invoice_id and status = :was_status;

-- name: find_invoice^
select {columns of invoice}
from invoice
where partner_id = :partner_id and invoice_id = :invoice_id;

-- name: find_month^
select {columns of invoice}
from invoice
where partner_id = :partner_id and environment = :environment and month = :month;

-- name: last_numbers^
select coalesce(max(seq), 0), coalesce(max(number), 0)
from invoice
where partner_id = :partner_id and environment = :environment;

-- name: page
-- An empty status stands for every status.
select {columns of invoice}
from invoice
where partner_id = :partner_id and environment = :environment and seq < :before
  and month between :first_month and :last_month
  and (:status = '' or status = :status)
order by seq desc
limit :page_size;

-- name: of_all_partners
-- An empty partner stands for every partner, an empty status for every status.
select {columns of invoice}
from invoice
where (partner_id, environment, seq) > (:after_partner_id, :after_environment, :after_seq)
  and (:partner_id = '' or partner_id = :partner_id)
  and (:status = '' or status = :status)
order by partner_id, environment, seq
limit :page_size;

-- name: insert_line!
insert into invoice_line (partner_id, invoice_id, line_id, line, day, game_id, tier_id, matches,
  amount_usd_cents)
values (:partner_id, :invoice_id, :line_id, :line, :day, :game_id, :tier_id, :matches,
  :amount_usd_cents);

-- name: lines
select line_id, line, day, game_id, tier_id, matches, amount_usd_cents
from invoice_line
where partner_id = :partner_id and invoice_id = :invoice_id and line > :after
order by line
limit :page_size;

-- name: find_line^
select line_id, line, day, game_id, tier_id, matches, amount_usd_cents
from invoice_line
where partner_id = :partner_id and invoice_id = :invoice_id and line_id = :line_id;

-- name: sum_of_lines^
select cast(count(*) as bigint), cast(coalesce(sum(amount_usd_cents), 0) as bigint)
from invoice_line
where partner_id = :partner_id and invoice_id = :invoice_id;

-- name: unbilled
-- Rake of some days that no invoice bills yet.
select day, game_id, tier_id, matches, match_rake_usd_cents
from totals
where partner_id = :partner_id and environment = :environment
  and day between :first_day and :last_day and invoice_id is null and matches > 0
order by day, game_id, tier_id
limit :page_size;

-- name: bill!
update totals set invoice_id = :invoice_id
where partner_id = :partner_id and environment = :environment and day = :day
  and game_id = :game_id and tier_id = :tier_id and invoice_id is null;

-- name: unbill!
update totals set invoice_id = null
where partner_id = :partner_id and environment = :environment and invoice_id = :invoice_id;

-- name: partners_with_unbilled
select distinct partner_id, environment
from totals
where day <= :last_day and invoice_id is null and matches > 0
  and (partner_id, environment) > (:after_partner_id, :after_environment)
order by partner_id, environment
limit :page_size;

-- name: drafts
select partner_id, environment, month
from invoice
where status = 'draft' and month <= :last_month
  and (partner_id, environment, month) > (:after_partner_id, :after_environment, :after_month)
order by partner_id, environment, month
limit :page_size;

-- name: matches_of_line
select m.match_id, m.ended_at, cast(sum(s.rake_usd_cents) as bigint)
from match m
join seat s on s.partner_id = m.partner_id and s.match_id = m.match_id
where m.partner_id = :partner_id and m.environment = :environment and m.status = 'ended'
  and (m.ended_at, m.match_id) > (:after_ended_at, :after_match_id)
  and m.ended_at < :until and m.game_id = :game_id and m.tier_id = :tier_id
group by m.ended_at, m.match_id
order by m.ended_at, m.match_id
limit :page_size;
