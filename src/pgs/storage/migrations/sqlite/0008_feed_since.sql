-- The rows of the feed by the time of their last change, with what a look-up by time reads of them.

drop index seat_changed;

create index seat_changed on seat (partner_id, environment, updated_at, position, rake_usd_cents)
where position is not null;
