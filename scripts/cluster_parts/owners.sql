-- The shards that are locked, each with the node whose session holds its lock.
select l.objid::int, n.name
from pg_locks l
join pg_locks p on p.locktype = 'advisory' and p.granted and p.classid = 2 and p.objsubid = 2
  and p.pid = l.pid
join node n on n.number = p.objid::bigint
where l.locktype = 'advisory' and l.granted and l.classid = 1 and l.objsubid = 2
