"""The operator's commands: they manage partners, tiers, terms and matches, and check the data."""
