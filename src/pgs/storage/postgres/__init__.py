"""PostgreSQL: a database on a server, written by one service, or by several nodes."""
