"""All background work of the service."""

from pgs.actors.kernel.system import TEND_S
from pgs.actors.maintenance.billing import assemble_invoices, finalise_days
from pgs.actors.maintenance.clock_watch import watch_clock
from pgs.actors.maintenance.database_watch import check_database, watch_files
from pgs.actors.maintenance.deadlines import SEARCH_AGAIN_S, ring_alarms, tell_due
from pgs.actors.maintenance.open_money import count_open_money
from pgs.actors.maintenance.registers import (
    close_idle_connections,
    close_idle_partners,
    close_sockets_when_unreadable,
    follow_others,
    refresh_catalogue,
    refresh_registry,
    tend_actors,
    write_key_uses,
)
from pgs.actors.maintenance.runner import Chore
from pgs.actors.maintenance.webhooks import prune_attempts, wake_failing_couriers
from pgs.actors.seating.emergency_stop import finish_stops
from pgs.actors.seating.switching_off import close_switched_off, void_removed_games
from pgs.actors.seating.waves import wake_lobbies
from pgs.actors.shared.key_uses import ROUND_S
from pgs.actors.shared.snapshots import REFRESH_S

FOLLOW_PAUSE_S = 0.1
"""Seconds between two readings of what other nodes have changed, at least. One reading finds all
changes of a burst."""

CLOSE_CONNECTIONS_S = 0.25
"""Seconds between two searches for connections to endpoints that no nudge uses any more. The pause
adds to the time for which an idle connection stays open."""

CLOSE_IDLE_S = 30.0
"""Seconds between two searches for partners whose actors are idle."""

REPAIR_S = 60.0
"""Seconds between two searches for work that a crash or an outage left undone."""

PRUNE_S = 3600.0
"""Seconds between two deletions of old tries. They are not shown any more, so their rows may stay
another hour."""

FINALISE_S = 60.0
"""Seconds between two attempts to make yesterday final. A call that reads days makes them final
too, so nobody waits for this."""

ASSEMBLE_S = 600.0
"""Seconds between two searches for invoices to assemble: a month is billed soon after it is
final."""

COUNT_S = 60.0
"""Seconds between two counts of open charges and payouts. One that stays open is reported after a
day, so it is enough to count once a minute."""

WATCH_CLOCK_S = 60.0
"""Seconds between two comparisons of the clock with the newest row. Correcting a clock takes
minutes at best."""

CHECK_SOCKETS_S = 1.0
"""Seconds between two checks of the registry's age. Nothing else closes sockets when the registry
is too old."""

WATCH_FILES_S = 1.0
"""Seconds between two looks at the database's files. The writer looks at them at each commit, so
this is for a service without writes."""

CHECK_DATABASE_S = 86_400.0
"""Seconds between two checks of the database. A check reads all of it, so one a day is enough."""

CHECK_FIRST_S = 300.0
"""Seconds from the start to the first check, so that the check does not slow the start."""

CHORES = (
    # The actors.
    Chore(name="tend_actors", work=tend_actors, every_s=TEND_S, first_after_s=TEND_S),
    Chore(
        name="close_idle_partners",
        work=close_idle_partners,
        every_s=CLOSE_IDLE_S,
        first_after_s=CLOSE_IDLE_S,
    ),
    Chore(
        name="close_idle_connections",
        work=close_idle_connections,
        every_s=CLOSE_CONNECTIONS_S,
        first_after_s=CLOSE_CONNECTIONS_S,
    ),
    # Due rows and alarms. The backlog may be long, so the service is ready before it is done.
    Chore(
        name="tell_due",
        work=tell_due,
        wait=lambda parts: parts.deadlines.wait(),
        every_s=SEARCH_AGAIN_S,
        failed="deadlines_unreadable",
    ),
    Chore(
        name="ring_alarms",
        work=ring_alarms,
        wait=lambda parts: parts.alarms.wait(),
        every_s=0.0,
    ),
    # The snapshots that every call reads. They are first read before the chores start.
    Chore(
        name="refresh_registry",
        work=refresh_registry,
        every_s=REFRESH_S,
        first_after_s=REFRESH_S,
        failed="registry_refresh_failed",
    ),
    Chore(
        name="follow_others",
        work=follow_others,
        wait=lambda parts: parts.database.wait_for_changes(),
        every_s=FOLLOW_PAUSE_S,
        first_after_s=FOLLOW_PAUSE_S,
        failed="registry_refresh_failed",
    ),
    Chore(
        name="refresh_catalogue",
        work=refresh_catalogue,
        every_s=REFRESH_S,
        first_after_s=REFRESH_S,
        failed="tiers_refresh_failed",
    ),
    Chore(
        name="close_sockets_when_unreadable",
        work=close_sockets_when_unreadable,
        every_s=CHECK_SOCKETS_S,
        first_after_s=CHECK_SOCKETS_S,
    ),
    Chore(
        name="write_key_uses",
        work=write_key_uses,
        every_s=ROUND_S,
        first_after_s=ROUND_S,
        failed="key_uses_unwritten",
    ),
    # Repairs of what a crash or an outage left undone, in this process or an earlier one.
    Chore(
        name="close_switched_off",
        work=close_switched_off,
        every_s=REPAIR_S,
        failed="closing_unreadable",
        required=True,
    ),
    Chore(
        name="finish_stops",
        work=finish_stops,
        every_s=REPAIR_S,
        failed="stops_unreadable",
        required=True,
    ),
    Chore(
        name="wake_lobbies",
        work=wake_lobbies,
        every_s=REPAIR_S,
        failed="lobbies_unreadable",
        once=True,
        required=True,
    ),
    Chore(
        name="void_removed_games",
        work=void_removed_games,
        every_s=REPAIR_S,
        failed="closing_unreadable",
    ),
    Chore(
        name="wake_failing_couriers",
        work=wake_failing_couriers,
        every_s=REPAIR_S,
        failed="failing_endpoints_unreadable",
    ),
    # The data itself.
    Chore(name="watch_files", work=watch_files, every_s=WATCH_FILES_S),
    Chore(
        name="check_database",
        work=check_database,
        every_s=CHECK_DATABASE_S,
        first_after_s=CHECK_FIRST_S,
        failed="database_unchecked",
    ),
    # Days that are over, checks of money and clock, and old rows.
    Chore(
        name="finalise_days",
        work=finalise_days,
        every_s=FINALISE_S,
        first_after_s=FINALISE_S,
        failed="days_not_finalised",
    ),
    Chore(
        name="assemble_invoices",
        work=assemble_invoices,
        every_s=ASSEMBLE_S,
        first_after_s=REPAIR_S,  # so that it does not slow the start
        failed="invoices_not_assembled",
    ),
    Chore(
        name="count_open_money",
        work=count_open_money,
        every_s=COUNT_S,
        failed="open_money_uncounted",
    ),
    Chore(
        name="watch_clock",
        work=watch_clock,
        every_s=WATCH_CLOCK_S,
        failed="clock_unwatched",
    ),
    Chore(
        name="prune_attempts",
        work=prune_attempts,
        every_s=PRUNE_S,
        failed="pruning_failed",
    ),
)
