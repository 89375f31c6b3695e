"""The times and sizes in the samples of `deploy/` agree with those of the service."""

import re

import pytest

from pgs.domain.origins import MAX_ORIGINS
from pgs.http.admin.live import LIFE_S
from pgs.http.partner.results import WAIT_MAX_S
from pgs.http.transport.limits import ServerLimits
from tests.deploy.proxies import DEPLOY

LIMITS = ServerLimits()
ORIGIN_CHARS = len("https://") + 253 + len(":65535")
HEAD_BYTES = MAX_ORIGINS * (ORIGIN_CHARS + 1) + 4096  # the widest frame's, with other headers


def _number(sample: str, pattern: str) -> int:
    """Return the one number that a pattern finds in a sample."""
    text = re.sub(r"#.*", "", (DEPLOY / sample).read_text(encoding="utf-8"))
    [found] = re.findall(pattern, text)
    return int(found)


@pytest.mark.parametrize(
    ("sample", "pattern"),
    [
        (sample, pattern)
        for samples, patterns in (
            (("nginx/pgs.conf", "nginx/nodes.conf"), (r"proxy_read_timeout (\d+)s;",)),
            (
                ("haproxy/haproxy.cfg", "haproxy/nodes.cfg"),
                tuple(rf"timeout {side} (\d+)s" for side in ("client", "server", "tunnel")),
            ),
        )
        for sample in samples
        for pattern in patterns
    ],
)
def test_a_proxy_waits_longer_than_the_service_is_ever_silent(sample: str, pattern: str) -> None:
    assert LIMITS.websocket_ping_s is not None
    assert _number(sample, pattern) > max(WAIT_MAX_S, LIFE_S, 2 * LIMITS.websocket_ping_s)


def test_nginx_gives_up_an_idle_connection_before_the_service_does() -> None:
    pattern = r"upstream pgs \{[^}]*keepalive_timeout (\d+)s;"
    assert _number("nginx/pgs.conf", pattern) < LIMITS.keep_alive_s


def test_the_head_of_the_widest_frame_fits_into_the_buffers() -> None:
    assert _number("nginx/pgs.conf", r"proxy_buffer_size (\d+)k;") * 1024 > HEAD_BYTES
    size = _number("haproxy/haproxy.cfg", r"tune.bufsize (\d+)")
    assert size - _number("haproxy/haproxy.cfg", r"tune.maxrewrite (\d+)") > HEAD_BYTES


def test_a_stop_of_the_unit_leaves_the_service_its_time() -> None:
    assert _number("systemd/pgs.service", r"TimeoutStopSec=(\d+)") > 15
    # Every connection is a file, and the database, the log and look-ups need some.
    assert _number("systemd/pgs.service", r"LimitNOFILE=(\d+)") > 2 * LIMITS.max_connections
