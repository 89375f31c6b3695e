"""Identity tokens of an OpenID Connect issuer, verified with the keys that it publishes."""
