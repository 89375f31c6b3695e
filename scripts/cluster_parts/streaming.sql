-- How many standbys follow this server.
select count(*) from pg_stat_replication where state = 'streaming'
