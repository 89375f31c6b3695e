"""The marks of the document, and the policy that says who may embed it."""

from pgs.http.api.themes import FrameTheme
from pgs.http.embed.policy import FrameData, content_security_policy, fill, frame_ancestors

ORIGINS = ("https://a.example", "https://b.example")


def test_only_registered_origins_may_embed_a_frame_and_only_the_portal_its_own() -> None:
    assert tuple(frame_ancestors(ORIGINS, portal=False)) == ORIGINS
    assert tuple(frame_ancestors(ORIGINS, portal=True)) == ("'self'",)


def test_the_data_for_the_frame_cannot_break_out_of_its_attribute() -> None:
    filled = fill(
        '<meta content="%PGS_FRAME%">',
        "n",
        FrameData(
            '"><script>',
            "test",
            ("https://a.example",),
            FrameTheme("test", '"><script>', "#000000", "#ffffff", "#000000", 8, True, None, 1),
        ),
    )
    assert filled.count('"') == 2
    assert "<script>" not in filled


def test_the_socket_of_the_policy_follows_the_scheme_of_the_service() -> None:
    assert "connect-src 'self' ws://127.0.0.1:8000;" in content_security_policy(
        "n", ["https://a.example"], "http://127.0.0.1:8000"
    )
    assert "connect-src 'self' wss://g.example;" in content_security_policy(
        "n", ["https://a.example"], "https://g.example"
    )
