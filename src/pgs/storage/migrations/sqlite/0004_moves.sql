-- Play: who has joined a match, and its moves. Times in epoch milliseconds; sides 0 (the older
-- seat) and 1.

create table presence (
  partner_id text not null,
  match_id text not null,
  came_0_ms bigint,
  came_1_ms bigint,
  clocks_ms bigint,
  name_0 text,
  name_1 text,
  primary key (partner_id, match_id)
);

create table move (
  partner_id text not null,
  match_id text not null,
  ply bigint not null,
  side bigint not null check (side in (0, 1)),
  move text not null,
  at_ms bigint not null,
  left_0_ms bigint not null,
  left_1_ms bigint not null,
  primary key (partner_id, match_id, ply)
);

create index seat_expecting on seat (partner_id, environment, player_id, seq)
where status in ('pending', 'waiting');
