"""The database: queries, migrations, and functions that read and write domain objects."""
