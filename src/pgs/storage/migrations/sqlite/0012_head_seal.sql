-- A hash over the head's last final day, so that the check of the ledger notices when it is altered
-- by hand. Empty in rows that were written before.

alter table head add column final_seal text not null default '';
