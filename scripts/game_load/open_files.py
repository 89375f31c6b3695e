"""Lets a script open as many sockets as it needs. The service raises its own limit."""

import resource

BESIDES = 256  # files that the script may open besides the sockets


def allow_sockets(sockets: int) -> str | None:
    """Let this process open that many sockets; return None, or why it may not."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = sockets + BESIDES
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return None
    if hard != resource.RLIM_INFINITY and hard < wanted:
        return (
            f"{wanted} open files are needed and {hard} are allowed: "
            "raise the limit, for example with ulimit -Hn"
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return None
