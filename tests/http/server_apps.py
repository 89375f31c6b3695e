"""What the tests of a listener share."""

from quart import websocket
from quart_trio import QuartTrio


def quart_app() -> QuartTrio:
    """Return a Quart application with a page, and a WebSocket that sends without end."""
    app = QuartTrio("pgs.http", static_folder=None)

    @app.get("/quart")
    async def _page() -> str:
        return "page"

    @app.websocket("/ws")
    async def _socket() -> None:
        while True:
            await websocket.send("x")

    return app
