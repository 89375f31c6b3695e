"""The operator's commands, and the Unix socket over which they reach a running service."""
