#!/usr/bin/env python3
"""Receives nudges and says of each whether its signature holds: for trying webhooks out. Needs Python alone, nothing installed.

    PGS_WEBHOOK_SECRET=whsec_… python receive_webhooks.py --port 9000
    python receive_webhooks.py --secret-file secret.txt --certificate chain.pem --key key.pem --port 443 --host 0.0.0.0

The service delivers over https to public hosts only: give this a certificate, or put it behind something that has one.
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

SIGNATURE_AGE_S = 300  # a signature is good for five minutes, either way
BODY_MAX = 64 * 1024  # a nudge takes about a hundred bytes
SOCKET_TIMEOUT_S = 10  # longer than any try lasts


def signature_is_valid(secret: str, header: str, raw_body: bytes, now: float) -> bool:
    """Return whether `header` signs these very bytes with this secret within five minutes of `now`, in epoch seconds."""
    parts = dict(part.partition("=")[::2] for part in header.split(","))
    at, sent = parts.get("t", ""), parts.get("v1", "")
    if not (at.isascii() and at.isdigit() and len(at) <= 12 and abs(now - int(at)) <= SIGNATURE_AGE_S):
        return False
    expected = hmac.new(secret.encode(), at.encode() + b"." + raw_body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), sent.encode("utf-8", "replace"))


class Receiver(ThreadingHTTPServer):
    """Takes nudges. `status` is what it answers to those that verify; others get a 400."""

    daemon_threads = True

    def __init__(self, address: tuple[str, int], secret: str, status: int, tls: ssl.SSLContext | None) -> None:
        super().__init__(address, Nudge)
        self.secret = secret
        self.status = status
        if tls is not None:
            # The handshake then happens at the first read, in the connection's own thread and under its time limit.
            self.socket = tls.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)

    def handle_error(self, request: object, client_address: object) -> None:
        """Say in one line that a connection broke."""
        tell(f"a connection broke: {sys.exc_info()[1]!r}")


class Nudge(BaseHTTPRequestHandler):
    """One request."""

    server: Receiver
    timeout = SOCKET_TIMEOUT_S
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Read the raw body, verify it before anything reads meaning into it, and answer."""
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()):
            self._answer(411, "no length")
        elif len(length) > 9 or int(length) > BODY_MAX:
            self._answer(413, "too long")
        else:
            body = self.rfile.read(int(length))
            header = self.headers.get("X-Service-Signature", "")
            if signature_is_valid(self.server.secret, header, body, time.time()):
                self._answer(self.server.status, f"verified  {describe(body)}")
            else:
                self._answer(400, "REFUSED   no signature" if not header else "REFUSED   the signature does not hold")

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing: one line for each request is printed already."""

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
    """Return a nudge's fields in a line. It says only that the feed has news: now is the time to read it."""
    try:
        nudge = json.loads(body)
        return f"{nudge['type']} for {nudge['partnerId']}, sent at {nudge['at']}"
    except (ValueError, KeyError, TypeError):
        return "signed, but no nudge"


def tell(text: str) -> None:
    """Print a line at once, whatever standard output is, and with nothing in it that moves a terminal's cursor."""
    line = "".join(character if character.isprintable() else "?" for character in text)
    print(time.strftime("%H:%M:%S"), line.encode("ascii", "replace").decode(), flush=True)


def read_secret(path: Path | None) -> str:
    """Return the signing secret, from a file or from PGS_WEBHOOK_SECRET: a command line can be read by everybody on the machine."""
    return (path.read_text(encoding="utf-8") if path else os.environ.get("PGS_WEBHOOK_SECRET", "")).strip()


def main() -> int:
    """Receive until interrupted; return the exit code."""
    parser = argparse.ArgumentParser(description="Receive nudges and verify their signatures.")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: this machine alone)")
    parser.add_argument("--port", type=int, default=9000, help="0 takes a free one")
    parser.add_argument("--secret-file", type=Path, help="file with the signing secret; without it PGS_WEBHOOK_SECRET is read")
    parser.add_argument("--certificate", type=Path, help="certificate chain (PEM), for https")
    parser.add_argument("--key", type=Path, help="its private key (PEM), where the chain's file does not hold it")
    parser.add_argument("--status", type=int, default=200, help="what to answer to a good nudge: 503 shows the tries that follow")
    options = parser.parse_args()
    secret = read_secret(options.secret_file)
    if not secret.startswith("whsec_"):
        parser.error("no signing secret (it begins with whsec_): give --secret-file or set PGS_WEBHOOK_SECRET")
    tls = None
    if options.certificate:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(options.certificate, options.key)
    with Receiver((options.host, options.port), secret, options.status, tls) as receiver:
        tell(f"listening on {'https' if tls else 'http'}://{options.host}:{receiver.server_address[1]}")
        try:
            receiver.serve_forever()
        except KeyboardInterrupt:
            tell("done")
    return 0


if __name__ == "__main__":
    sys.exit(main())
