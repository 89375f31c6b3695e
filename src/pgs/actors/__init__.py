"""The actors: each owns some changing state and handles one message at a time."""
