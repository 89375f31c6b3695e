-- Finds the invites to a person who has signed in and belongs to no account yet.

create index invite_address on invite (lower(email))
where accepted_by is null and revoked_at is null;
