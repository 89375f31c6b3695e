-- Seats, which are also the rows of the results feed. Column order is that of pgs.domain.seats.Seat.

-- name: insert_seat!
insert into seat (
  partner_id, environment, seat_id, seq, idempotency_key, player_id, game_id, tier_id, tier_revision, sent_usd_cents,
  stake_usd_cents, prize_usd_cents, partner_ref, status, stake_status, seated_at, confirmed_at, expires_at, due_at, closing,
  match_id, opponent_player_id, result, score, end_reason, started_at, ended_at, payout_usd_cents, refund_usd_cents,
  rake_usd_cents, position, revision, updated_at
) values (
  :partner_id, :environment, :seat_id, :seq, :idempotency_key, :player_id, :game_id, :tier_id, :tier_revision, :sent_usd_cents,
  :stake_usd_cents, :prize_usd_cents, :partner_ref, :status, :stake_status, :seated_at, :confirmed_at, :expires_at, :due_at,
  :closing, :match_id, :opponent_player_id, :result, :score, :end_reason, :started_at, :ended_at, :payout_usd_cents,
  :refund_usd_cents, :rake_usd_cents, :position, :revision, :updated_at
);

-- name: update_seat!
update seat set
  status = :status, stake_status = :stake_status, confirmed_at = :confirmed_at, expires_at = :expires_at, due_at = :due_at,
  closing = :closing, match_id = :match_id, opponent_player_id = :opponent_player_id, result = :result, score = :score,
  end_reason = :end_reason, started_at = :started_at, ended_at = :ended_at, payout_usd_cents = :payout_usd_cents,
  refund_usd_cents = :refund_usd_cents, rake_usd_cents = :rake_usd_cents, position = :position, revision = :revision,
  updated_at = :updated_at
where partner_id = :partner_id and seat_id = :seat_id and status = :was_status and revision = :was_revision;

-- name: find_seat^
select
  partner_id, environment, seat_id, seq, idempotency_key, player_id, game_id, tier_id, tier_revision, sent_usd_cents,
  stake_usd_cents, prize_usd_cents, partner_ref, status, stake_status, seated_at, confirmed_at, expires_at, due_at, closing,
  match_id, opponent_player_id, result, score, end_reason, started_at, ended_at, payout_usd_cents, refund_usd_cents,
  rake_usd_cents, position, revision, updated_at
from seat
where partner_id = :partner_id and seat_id = :seat_id;

-- name: find_by_idempotency_key^
select
  partner_id, environment, seat_id, seq, idempotency_key, player_id, game_id, tier_id, tier_revision, sent_usd_cents,
  stake_usd_cents, prize_usd_cents, partner_ref, status, stake_status, seated_at, confirmed_at, expires_at, due_at, closing,
  match_id, opponent_player_id, result, score, end_reason, started_at, ended_at, payout_usd_cents, refund_usd_cents,
  rake_usd_cents, position, revision, updated_at
from seat
where partner_id = :partner_id and environment = :environment and idempotency_key = :idempotency_key;

-- name: waiting_seats
select
  partner_id, environment, seat_id, seq, idempotency_key, player_id, game_id, tier_id, tier_revision, sent_usd_cents,
  stake_usd_cents, prize_usd_cents, partner_ref, status, stake_status, seated_at, confirmed_at, expires_at, due_at, closing,
  match_id, opponent_player_id, result, score, end_reason, started_at, ended_at, payout_usd_cents, refund_usd_cents,
  rake_usd_cents, position, revision, updated_at
from seat
where partner_id = :partner_id and environment = :environment and status = 'waiting'
order by seq;

-- name: seats_of_match
select
  partner_id, environment, seat_id, seq, idempotency_key, player_id, game_id, tier_id, tier_revision, sent_usd_cents,
  stake_usd_cents, prize_usd_cents, partner_ref, status, stake_status, seated_at, confirmed_at, expires_at, due_at, closing,
  match_id, opponent_player_id, result, score, end_reason, started_at, ended_at, payout_usd_cents, refund_usd_cents,
  rake_usd_cents, position, revision, updated_at
from seat
where partner_id = :partner_id and match_id = :match_id
order by seq;

-- name: feed_page
select
  partner_id, environment, seat_id, seq, idempotency_key, player_id, game_id, tier_id, tier_revision, sent_usd_cents,
  stake_usd_cents, prize_usd_cents, partner_ref, status, stake_status, seated_at, confirmed_at, expires_at, due_at, closing,
  match_id, opponent_player_id, result, score, end_reason, started_at, ended_at, payout_usd_cents, refund_usd_cents,
  rake_usd_cents, position, revision, updated_at
from seat
where partner_id = :partner_id and environment = :environment and position > :after
order by position
limit :page_size;

-- name: due_seats
select partner_id, environment, seat_id, due_at
from seat
where due_at <= :until and (due_at, partner_id, seat_id) > (:after_due_at, :after_partner_id, :after_row_id)
order by due_at, partner_id, seat_id
limit :page_size;

-- name: next_due_seat^
select min(due_at) from seat where due_at is not null;

-- name: open_seats_after
select seat_id
from seat
where partner_id = :partner_id and environment = :environment and status in ('waiting', 'pending') and closing is null and seat_id > :after
order by seat_id
limit :page_size;

-- name: find_head^
select seat_seq, feed_position from head where partner_id = :partner_id and environment = :environment;

-- name: move_head!
insert into head (partner_id, environment, seat_seq, feed_position)
values (:partner_id, :environment, :seat_seq, :feed_position)
on conflict (partner_id, environment) do update
set seat_seq = excluded.seat_seq, feed_position = excluded.feed_position
where head.seat_seq = :was_seat_seq and head.feed_position = :was_feed_position;
