-- Step-up windows belong to sign-ins, and locks of an authenticator add up.

-- A JSON list of [sign-in, epoch seconds at which its window was opened].
alter table factor add column windows text not null default '[]';

-- Locks since the last right code.
alter table factor add column locks bigint not null default 0;

alter table factor drop column opened_at;
