"""The environment of a call, in its path or its query."""

from pgs.domain.environments import Environment, is_environment
from pgs.domain.errors import BadRequest, Refusal, refuse
from pgs.http.admin.authorization import AdminCall


def environment_of(call: AdminCall) -> Environment:
    """Return the environment in the path's `{env}`. Routes match only `live` and `test` there."""
    return "live" if call.path["env"] == "live" else "test"


def environment_asked(call: AdminCall) -> Environment | Refusal | BadRequest:
    """Return the environment that the query names, or what is wrong with it."""
    environment = call.query.get("environment")
    if environment is None:
        return refuse("missing_parameter", parameter="environment")
    if not is_environment(environment):
        return BadRequest("Query parameter `environment` must be test or live.")
    return environment
