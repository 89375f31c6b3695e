-- Webhook endpoints.

-- name: switched_on
select partner_id, environment from webhook where enabled = 1 order by partner_id, environment;

-- name: switched_on_of
select partner_id, environment
from webhook where enabled = 1 and partner_id = :partner_id order by environment;

-- name: find_webhook^
select url, enabled, consecutive_failures, created_at, secret_rotated_at, disabled_at
from webhook
where partner_id = :partner_id and environment = :environment;

-- name: insert_webhook!
insert into webhook (
  partner_id, environment, url, enabled, consecutive_failures, created_at, secret_rotated_at,
    disabled_at, sealed_secret,
  saved_seq
) values (
  :partner_id, :environment, :url, 1, 0, :created_at, :secret_rotated_at, null, :sealed_secret, 1
);

-- name: save_webhook_url!
update webhook set
  url = :url, enabled = 1, consecutive_failures = 0, disabled_at = null, saved_seq = saved_seq + 1
where partner_id = :partner_id and environment = :environment;

-- name: find_endpoint^
select url, enabled, consecutive_failures, saved_seq, sealed_secret
from webhook
where partner_id = :partner_id and environment = :environment;

-- name: failing_endpoints
select partner_id, environment
from webhook
where enabled = 1 and consecutive_failures >= :failures
order by partner_id, environment
limit :page_size;

-- name: set_failures!
update webhook set consecutive_failures = :failures
where partner_id = :partner_id and environment = :environment and saved_seq = :saved_seq
  and enabled = 1;

-- name: rotate_secret!
update webhook set
  sealed_secret = :sealed_secret, secret_rotated_at = :at
  where partner_id = :partner_id and environment = :environment;

-- name: disable_webhook!
update webhook set
  enabled = 0, disabled_at = :at where partner_id = :partner_id and environment = :environment;
