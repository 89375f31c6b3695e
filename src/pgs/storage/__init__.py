"""The database: queries, migrations, typed repositories."""
