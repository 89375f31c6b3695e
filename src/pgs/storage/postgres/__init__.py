"""PostgreSQL: a database on a server, written by one session at a time."""
