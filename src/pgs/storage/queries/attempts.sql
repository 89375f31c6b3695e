-- The log of webhook delivery attempts.

-- name: insert_attempt!
insert into attempt (
  partner_id, environment, seq, attempt_id, nudge_id, at, try, delivered, status_code,
    duration_ms, response_body, match_id, test, error, resend
) values (
  :partner_id, :environment, :seq, :attempt_id, :nudge_id, :at, :try_number, :delivered,
    :status_code, :duration_ms, :response_body,
  :match_id, :test, :error, :resend
);

-- name: find_attempt^
select seq, attempt_id, nudge_id, at, try, delivered, status_code, duration_ms, response_body,
  match_id, test, error, resend
from attempt
where partner_id = :partner_id and environment = :environment and attempt_id = :attempt_id
  and at > :since;

-- name: attempts_before
select seq, attempt_id, nudge_id, at, try, delivered, status_code, duration_ms, response_body,
  match_id, test, error, resend
from attempt
where partner_id = :partner_id and environment = :environment and seq < :before and at > :since
order by seq desc
limit :page_size;

-- name: newest_attempt^
select seq
from attempt
where partner_id = :partner_id and environment = :environment order by seq desc limit 1;

-- name: newest_test^
select at
from attempt
where partner_id = :partner_id and environment = :environment and test = 1 and at > :since
order by at desc
limit 1;

-- name: oldest_attempts
select partner_id, environment, max(seq)
from (select partner_id, environment, seq from attempt where at <= :until order by at
  limit :page_size) as oldest
group by partner_id, environment
order by partner_id, environment;

-- name: last_old_attempt^
select max(seq)
from (select seq, at from attempt
  where partner_id = :partner_id and environment = :environment order by seq
  limit :page_size) as first
where at <= :until;

-- name: delete_old_attempts!
delete from attempt
where partner_id = :partner_id and environment = :environment and seq <= :seq and at <= :until;
