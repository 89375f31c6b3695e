-- Each seat with its money, for the comparison with the settlement server's books.
select seat_id, match_id, stake_usd_cents, status, payout_usd_cents, refund_usd_cents, settlement
from seat
