"""The frame that partners embed: its document, and the files that the document loads.

The policy of a document under `/embed` lets only the partner's registered origins frame it.
"""

from pgs.http.api.services import Services
from pgs.http.embed.app import EmbedApp
from pgs.http.embed.assets import read_assets
from pgs.http.embed.documents import BundledFrame, Frame, UpstreamFrame
from pgs.http.outbound.fetch import JsonClient
from pgs.http.transport.asgi import App


def make_embed(
    services: Services, frame_url: str, fallback: App, *, for_portal: bool = False
) -> EmbedApp:
    """Return the application for `/embed` and everything below it; `fallback` serves other paths.

    `frame_url` is the document's address; empty for the document in the package. `for_portal`: the
    frame that the portal shows is served too.
    """
    assets = read_assets()
    frame: Frame = (
        UpstreamFrame(frame_url, JsonClient()) if frame_url else BundledFrame(assets.templates)
    )
    return EmbedApp(services, frame, assets, fallback, for_portal=for_portal)
