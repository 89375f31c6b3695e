-- Who made a key: a member's uid, null for the platform. For older keys the event log tells.
alter table api_key add column created_by text collate "C";

update api_key set created_by = (
  select max(e.actor)
  from event e
  where e.partner_id = api_key.partner_id and e.actor <> 'platform' and (
    (e.action = 'key.created' and e.detail like '%"keyId":"' || api_key.key_id || '"%') or
    (e.action = 'key.rotated' and e.detail like '%"newKeyId":"' || api_key.key_id || '"%')
  )
);
