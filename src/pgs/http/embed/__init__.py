"""The frame that partners embed: its document, under a policy that only their registered origins pass, and what the document loads."""

from pgs.http.api.services import Services
from pgs.http.embed.app import EmbedApp
from pgs.http.embed.assets import read_assets
from pgs.http.embed.documents import BundledFrame, Frame, UpstreamFrame
from pgs.http.outbound.fetch import JsonClient
from pgs.http.transport.asgi import App


def make_embed(services: Services, frame_url: str, fallback: App) -> EmbedApp:
    """Return the application for everything under `/embed`, in front of `fallback`. `frame_url`: the document's; empty: bundled."""
    assets = read_assets()
    frame: Frame = (
        UpstreamFrame(frame_url, JsonClient()) if frame_url else BundledFrame(assets.template)
    )
    return EmbedApp(services, frame, assets, fallback)
