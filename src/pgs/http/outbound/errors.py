"""The reasons why a try got no response, as the attempt log shows them.

No text contains anything that an endpoint sent.
"""

from typing import Final

NOT_LOOKED_UP: Final = "the host's name could not be looked up"
NOT_CONNECTED: Final = "no connection could be made"
CONNECT_TIMEOUT: Final = "no connection within 2 seconds"
BAD_CERTIFICATE: Final = "the certificate is not valid for this host"
NO_TLS: Final = "the TLS handshake failed"
NO_ANSWER: Final = "no response within 5 seconds"
CLOSED: Final = "the connection closed before a response"
NOT_HTTP: Final = "the response is not valid HTTP/1.1"
TOO_LONG: Final = "the head of the response is too long"


class NoResponse(Exception):
    """A try ended without a response.

    `reason` is one of the texts of this module, or `REFUSED_MESSAGE` of the address rule.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
