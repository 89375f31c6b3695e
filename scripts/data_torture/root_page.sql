-- The first page of the index of idempotency keys.
select rootpage from sqlite_master where name = 'seat_idempotency';
