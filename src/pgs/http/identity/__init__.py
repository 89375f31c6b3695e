"""Verifies the identity tokens of an OpenID Connect issuer with the issuer's published keys."""
