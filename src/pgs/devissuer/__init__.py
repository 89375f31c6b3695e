"""An OpenID Connect issuer for development: on this machine alone, for whoever opens its page. Never part of a deployment.

It asks for no password. The demo and the tests sign in with it; `pgs serve` is told of a real issuer by its settings.
"""

from pgs.devissuer.issuer import DevelopmentIssuer, NotLoopback, development_issuer
from pgs.devissuer.people import Person

__all__ = ["DevelopmentIssuer", "NotLoopback", "Person", "development_issuer"]
