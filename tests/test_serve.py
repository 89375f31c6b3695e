"""The time that a stop of the service may take."""

from pgs.actors.kernel.system import STOP_GRACE_S
from pgs.actors.shared import key_uses
from pgs.actors.shared.deliveries import DRAIN_S
from pgs.http.transport.limits import ServerLimits
from pgs.http.transport.sockets import TELL_S
from pgs.logs import FLUSH_S
from pgs.serve import GRACE_S, HAND_OVER_S, INTERNAL_LIMITS, STOP_S
from pgs.storage.writer import CLOSE_GRACE_S


def test_the_steps_of_a_stop_fit_in_its_time_even_if_each_takes_all_of_its_own() -> None:
    # A node takes the time in which it hands over from the time for calls in flight.
    assert HAND_OVER_S < GRACE_S
    listeners = [
        2 * TELL_S,
        GRACE_S,
        ServerLimits().shutdown_s,
        INTERNAL_LIMITS.grace_s,
        INTERNAL_LIMITS.shutdown_s,
    ]
    # Tries in flight have their time from the beginning of the stop.
    before_the_core_closes = max(sum(listeners), DRAIN_S)
    core = [key_uses.FLUSH_S, STOP_GRACE_S, CLOSE_GRACE_S, FLUSH_S]
    assert before_the_core_closes + sum(core) <= STOP_S
