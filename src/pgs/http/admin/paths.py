"""What a path's names mean."""

from pgs.domain.environments import Environment
from pgs.http.admin.gate import AdminCall


def environment_of(call: AdminCall) -> Environment:
    """Return the environment that the path names as `{env}`; the routes let no other word there."""
    return "live" if call.path["env"] == "live" else "test"
