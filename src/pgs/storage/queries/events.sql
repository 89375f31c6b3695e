-- The event log of an account.

-- name: insert_event!
insert into event (partner_id, seq, event_id, at, actor, action, detail)
values (:partner_id, :seq, :event_id, :at, :actor, :action, :detail);

-- name: events_page
select seq, event_id, at, actor, action, detail
from event
where partner_id = :partner_id and seq < :before
  and (:with_invites = 1 or substr(action, 1, 7) <> 'invite.')
order by seq desc
limit :page_size;
