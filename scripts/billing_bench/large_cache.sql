-- 400 MB, because the history's indexes have random keys.
PRAGMA cache_size = -400000;
