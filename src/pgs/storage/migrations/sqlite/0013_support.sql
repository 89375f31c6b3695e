-- Finds what support asks for: a player's seats, seats by a partner's reference, a match's nudges.

create index seat_player on seat (partner_id, environment, player_id, seq);
create index seat_reference on seat (partner_id, environment, partner_ref, seq)
where partner_ref is not null;
create index attempt_match on attempt (partner_id, environment, match_id, seq)
where match_id is not null;
