"""Sends each request to the node that owns its shard, in an installation of several nodes."""
