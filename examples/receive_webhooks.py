#!/usr/bin/env python3
"""A webhook receiver: it prints each nudge, and whether its signature is valid.

    PGS_WEBHOOK_SECRET=whsec_… python3 examples/receive_webhooks.py --port 9000
    python3 examples/receive_webhooks.py --secret-file secret.txt \\
        --certificate chain.pem --key key.pem --host 0.0.0.0 --port 443

It needs Python 3.11 or newer and no packages. The service delivers to public https addresses only:
give this program a certificate, or run it behind a proxy or tunnel that has one.
"""

import argparse
import hashlib
import hmac
import json
import os
import ssl
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

BODY_BYTES_MAX = 64 * 1024  # a nudge has about a hundred bytes
SOCKET_TIMEOUT_S = 10  # the service ends each try after five seconds


def signature_is_valid(
    secret: str, header: str | None, raw_body: bytes, now: float | None = None
) -> bool:
    parts = dict(part.partition("=")[::2] for part in (header or "").split(","))
    t, v1 = parts.get("t", ""), parts.get("v1", "")
    if not (t.isascii() and t.isdigit() and len(t) <= 12):
        return False
    if abs((time.time() if now is None else now) - int(t)) > 300:  # five minutes
        return False
    expected = hmac.new(secret.encode(), t.encode() + b"." + raw_body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), v1.encode("utf-8", "replace"))


class Receiver(ThreadingHTTPServer):
    """Answers `status` to a POST with a valid signature, and an error to every other request."""

    daemon_threads = True

    def __init__(
        self, address: tuple[str, int], secret: str, status: int, tls: ssl.SSLContext | None
    ) -> None:
        super().__init__(address, Nudge)
        self.secret = secret
        self.status = status
        if tls is not None:
            # With do_handshake_on_connect, the thread that accepts connections would also do every
            # handshake, without a time limit. So this option is off: the first read then does the
            # handshake, in the thread of the connection, where SOCKET_TIMEOUT_S applies.
            self.socket = tls.wrap_socket(
                self.socket, server_side=True, do_handshake_on_connect=False
            )

    def handle_error(self, request: object, client_address: object) -> None:
        """Print one line instead of a traceback."""
        tell(f"a connection broke: {sys.exc_info()[1]!r}")


class Nudge(BaseHTTPRequestHandler):
    """One request from the service."""

    server: Receiver
    timeout = SOCKET_TIMEOUT_S
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Verify the raw body before it is parsed, then answer."""
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()):
            self._answer(411, "no length")
        elif len(length) > 9 or int(length) > BODY_BYTES_MAX:
            self._answer(413, "too long")
        else:
            body = self.rfile.read(int(length))
            header = self.headers.get("X-Service-Signature", "")
            if signature_is_valid(self.server.secret, header, body):
                self._answer(self.server.status, f"verified  {describe(body)}")
            elif header:
                self._answer(400, "REFUSED   the signature is not valid")
            else:
                self._answer(400, "REFUSED   no signature")

    def log_message(self, format: str, *arguments: object) -> None:
        """Print nothing: `_answer` prints a line for each request."""

    def _answer(self, status: int, said: str) -> None:
        tell(f"{said}  (answered {status})")
        body = b"ok\n" if status < 300 else b"no\n"
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True


def describe(body: bytes) -> str:
    """Return a nudge's fields in one line. A nudge only tells you to read the results feed."""
    try:
        nudge = json.loads(body)
        return f"{nudge['type']} for {nudge['partnerId']}, sent at {nudge['at']}"
    except (ValueError, KeyError, TypeError):
        return "signed, but not a nudge"


def tell(text: str) -> None:
    """Print a line at once. Only printable ASCII is kept, because senders choose the text."""
    line = "".join(character if character.isprintable() else "?" for character in text)
    print(time.strftime("%H:%M:%S"), line.encode("ascii", "replace").decode(), flush=True)


def read_secret(path: Path | None) -> str:
    """Return the signing secret, from the file or from the variable PGS_WEBHOOK_SECRET.

    No option takes the secret itself, because every user of the machine can read a command line.
    """
    if path is not None:
        return path.read_text(encoding="utf-8").strip()
    return os.environ.get("PGS_WEBHOOK_SECRET", "").strip()


def command_line() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(description="Receive nudges and verify their signatures.")
    add = parser.add_argument
    add("--host", default="127.0.0.1", help="address to listen on (default: this machine only)")
    add("--port", type=int, default=9000, help="0 takes a free port (default: 9000)")
    add(
        "--secret-file", type=Path, help="signing secret (default: the variable PGS_WEBHOOK_SECRET)"
    )
    add("--certificate", type=Path, help="certificate chain (PEM); without it: plain http")
    add("--key", type=Path, help="private key (PEM), if it is not in the certificate's file")
    add("--status", type=int, default=200, help="answer to a valid nudge; 503 shows the retries")
    return parser


def main() -> int:
    """Receive until interrupted; return the exit code."""
    parser = command_line()
    options = parser.parse_args()
    secret = read_secret(options.secret_file)
    if not secret.startswith("whsec_"):
        parser.error(
            "no signing secret (it begins with whsec_):"
            " give --secret-file, or set PGS_WEBHOOK_SECRET"
        )
    tls = None
    if options.certificate:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(options.certificate, options.key)
    with Receiver((options.host, options.port), secret, options.status, tls) as receiver:
        scheme = "https" if tls else "http"
        tell(f"listening on {scheme}://{options.host}:{receiver.server_address[1]}")
        try:
            receiver.serve_forever()
        except KeyboardInterrupt:
            tell("done")
    return 0


if __name__ == "__main__":
    sys.exit(main())
