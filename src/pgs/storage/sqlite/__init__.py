"""SQLite: a database in one file of the data folder, used by one process."""
