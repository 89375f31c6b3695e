"""The least that a server can cost: trio alone, answering each request with the same bytes.

    bare_trio.py PORT

It reads nothing in a request and answers each chunk of bytes that arrives, so its cost is that of
the sockets and the event loop alone. The benchmark's caller sends a request in one piece and waits
for the answer, so each chunk is one request.
"""

import sys

import trio

BODY = b'{"ok":true}'
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(BODY), BODY)
READ_BYTES = 65536


async def serve(stream: trio.SocketStream) -> None:
    """Answer the requests of one connection."""
    while await stream.receive_some(READ_BYTES):
        await stream.send_all(ANSWER)


if __name__ == "__main__":
    trio.run(trio.serve_tcp, serve, int(sys.argv[1]))
