"""Requests among several nodes: which node a request belongs to, and how it gets there."""
