"""The parameters in paths."""

from pgs.domain.environments import Environment
from pgs.http.admin.gate import AdminCall


def environment_of(call: AdminCall) -> Environment:
    """Return the environment of the path's `{env}`, where routes match only `live` and `test`."""
    return "live" if call.path["env"] == "live" else "test"
