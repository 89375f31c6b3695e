-- Ratings. Columns are selected in the order of the fields in pgs.domain.ratings.

-- name: find_rating^
select mu, sigma, matches, last_opponent
from rating
where partner_id = :partner_id and environment = :environment and game_id = :game_id
  and player_id = :player_id;

-- name: save_rating!
insert into rating (partner_id, environment, game_id, player_id, mu, sigma, matches, last_opponent)
values (:partner_id, :environment, :game_id, :player_id, :mu, :sigma, :matches, :last_opponent)
on conflict (partner_id, environment, game_id, player_id) do update
set mu = excluded.mu, sigma = excluded.sigma, matches = excluded.matches,
  last_opponent = excluded.last_opponent
where rating.matches = :was_matches;

-- name: partners_with_seats_to_pair
select partner_id
from seat
where environment = 'live' and status in ('pending', 'waiting') and status = 'waiting'
group by partner_id, game_id, tier_id, tier_revision, settlement
having count(*) >= 2
order by partner_id;
