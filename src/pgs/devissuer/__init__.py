"""An OpenID Connect issuer for development, which listens only on this machine.

It asks for no password and is never part of a deployment. The demo and the tests sign in with it;
the settings of `pgs serve` name a real issuer.
"""
