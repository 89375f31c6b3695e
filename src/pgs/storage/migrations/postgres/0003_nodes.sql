-- The nodes of an installation, and for each shard a row that its last owner wrote. The locks of
-- the writers' sessions tell which node owns a shard now; these rows do not. Only PostgreSQL has
-- these tables, because a database of SQLite belongs to one process.
create table node (
  name text collate "C" primary key,
  number bigint not null unique check (number between 1 and 2147483647),
  address text collate "C" not null,
  session bigint not null,
  beat bigint not null,
  state text collate "C" not null check (state in ('up', 'draining', 'stopping'))
);

create table shard (
  shard bigint primary key check (shard between 0 and 63),
  node text collate "C" not null,
  session bigint not null,
  state text collate "C" not null check (state in ('held', 'free')),
  epoch bigint not null
);

-- Owned by the column, so that it is dropped with the table.
create sequence node_session owned by node.session;
