"""The owners of everything that changes."""
