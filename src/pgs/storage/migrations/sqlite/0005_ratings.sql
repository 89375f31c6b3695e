-- Players' skill by game, computed from live matches that ended with a result. `mu` (the mean) and
-- `sigma` (the deviation) are in millionths of a point.

create table rating (
  partner_id text not null,
  environment text not null check (environment in ('test', 'live')),
  game_id text not null,
  player_id text not null,
  mu bigint not null,
  sigma bigint not null check (sigma > 0),
  matches bigint not null check (matches >= 1),
  last_opponent text,
  primary key (partner_id, environment, game_id, player_id)
);
