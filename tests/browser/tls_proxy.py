"""A proxy that ends TLS for one host name and forwards to a port on this machine."""

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import trio
import trustme

from tests.patience import PATIENCE_S


class TlsProxy:
    """A running proxy, in a thread of its own."""

    def __init__(self, authority: trustme.CA, host: str, port: int) -> None:
        """Start a proxy for `https://<host>`, with a certificate of `authority`.

        `port` is where it forwards to; its own port is chosen by the system.
        """
        self._forward_to = port
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        issued = authority.issue_cert(host)
        # The chain includes the root, so that the browser can recognise the root by its key.
        chain = b"".join(blob.bytes() for blob in (*issued.cert_chain_pems, authority.cert_pem))
        with (
            issued.private_key_pem.tempfile() as key,
            trustme.Blob(chain).tempfile() as certificates,
        ):
            self._context.load_cert_chain(certificates, key)
        self._up = threading.Event()
        self._thread = threading.Thread(target=trio.run, args=(self._serve,))
        self._thread.start()
        assert self._up.wait(PATIENCE_S)
        self.origin = f"https://{host}:{self._port}"

    def stop(self) -> None:
        """Close all connections, and wait for the thread to end."""
        trio.from_thread.run_sync(self._scope.cancel, trio_token=self._token)
        self._thread.join()

    async def _serve(self) -> None:
        self._token = trio.lowlevel.current_trio_token()
        with trio.CancelScope() as self._scope:
            async with trio.open_nursery() as nursery:
                (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
                self._port: int = listener.socket.getsockname()[1]
                self._up.set()
                await trio.serve_listeners(
                    self._forward,
                    [trio.SSLListener(listener, self._context)],
                    handler_nursery=nursery,
                )

    async def _forward(self, outer: trio.abc.Stream) -> None:
        try:
            async with (
                outer,
                await trio.open_tcp_stream("127.0.0.1", self._forward_to) as inner,
                trio.open_nursery() as nursery,
            ):
                nursery.start_soon(_copy, outer, inner, nursery.cancel_scope)
                nursery.start_soon(_copy, inner, outer, nursery.cancel_scope)
        except* (OSError, trio.BrokenResourceError, trio.ClosedResourceError):
            pass


async def _copy(source: trio.abc.Stream, sink: trio.abc.Stream, both: trio.CancelScope) -> None:
    """Copy one direction until it ends, and then end both."""
    while data := await source.receive_some(65536):
        await sink.send_all(data)
    both.cancel()


@contextmanager
def tls_proxy(authority: trustme.CA, host: str, port: int) -> Iterator[str]:
    """Run a proxy for a block. Yields its origin."""
    proxy = TlsProxy(authority, host, port)
    try:
        yield proxy.origin
    finally:
        proxy.stop()
