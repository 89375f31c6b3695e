"""An OpenID Connect issuer for development, which listens on this machine alone.

It asks for no password and is never part of a deployment. The demo and the tests sign in with it;
the settings of `pgs serve` name a real issuer.
"""
