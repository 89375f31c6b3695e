-- Who moves first: side 0 of a match, and how often each player has been that in live matches.

alter table seat add column side bigint check (side in (0, 1));

create table opening (
  partner_id text not null,
  environment text not null check (environment in ('test', 'live')),
  game_id text not null,
  player_id text not null,
  matches bigint not null,
  begun bigint not null,
  primary key (partner_id, environment, game_id, player_id)
);
