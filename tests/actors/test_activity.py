"""What subscribers are told, and what happens to those who do not keep up."""

from itertools import cycle, islice

import trio
from trio.testing import MockClock

from pgs.actors.shared.activity import (
    BACKLOG_LIMIT,
    CALLS_PER_S,
    SUBSCRIBERS_LIMIT,
    Activity,
    ActivityEvent,
    Subscriber,
)
from pgs.domain.environments import ENVIRONMENTS, Environment


def event(number: int) -> ActivityEvent:
    return ActivityEvent("seat", number, {"seatId": f"sea_{number}"})


def subscribe(
    activity: Activity, partner_id: str = "acme", environment: Environment = "test"
) -> Subscriber:
    subscriber = activity.subscribe(partner_id, environment)
    assert subscriber is not None
    return subscriber


def soon() -> float:
    return trio.current_time() + 1


async def test_a_subscriber_is_told_in_order_what_happens_from_now_on(
    autojump_clock: MockClock,
) -> None:
    activity = Activity()
    activity.tell("acme", "test", event(0))
    subscriber = subscribe(activity)
    for number in (1, 2, 3):
        activity.tell("acme", "test", event(number))
    assert await subscriber.take(soon()) == ([event(1), event(2), event(3)], 0)
    assert await subscriber.take(soon()) == ([], 0)
    assert trio.current_time() == 1  # only the call without an event waited


async def test_news_wakes_a_subscriber_who_waits(autojump_clock: MockClock) -> None:
    subscriber = Subscriber()
    async with trio.open_nursery() as nursery:

        async def tell_later() -> None:
            await trio.sleep(5)
            subscriber.tell(event(1))

        nursery.start_soon(tell_later)
        assert await subscriber.take(60) == ([event(1)], 0)
    assert trio.current_time() == 5


async def test_every_subscriber_of_an_environment_is_told_and_no_other(
    autojump_clock: MockClock,
) -> None:
    activity = Activity()
    one, two = subscribe(activity), subscribe(activity)
    live, other = subscribe(activity, environment="live"), subscribe(activity, "other")
    activity.tell("acme", "test", event(1))
    assert (await one.take(soon()))[0] == (await two.take(soon()))[0] == [event(1)]
    assert (await live.take(soon()))[0] == (await other.take(soon()))[0] == []


async def test_a_subscriber_who_falls_behind_loses_the_oldest_events_and_is_told_how_many(
    autojump_clock: MockClock,
) -> None:
    subscriber = Subscriber()
    for number in range(BACKLOG_LIMIT + 3):
        subscriber.tell(event(number))
    happened, lost = await subscriber.take(soon())
    assert lost == 3
    assert [one.at for one in happened] == list(range(3, BACKLOG_LIMIT + 3))
    subscriber.tell(event(9))
    assert await subscriber.take(soon()) == ([event(9)], 0), "the loss is told once"


def test_an_environment_has_subscribers_until_the_last_one_leaves() -> None:
    activity = Activity()
    assert not activity.has_subscribers("acme", "test")
    first, last = subscribe(activity), subscribe(activity)
    activity.unsubscribe("acme", "test", first)
    assert activity.has_subscribers("acme", "test")
    assert not activity.has_subscribers("acme", "live")
    activity.unsubscribe("acme", "test", last)
    assert not activity.has_subscribers("acme", "test")
    assert not any(activity.has_subscribers("acme", each) for each in ENVIRONMENTS)


def test_the_limit_of_subscribers_counts_both_environments_and_no_other_partner() -> None:
    activity = Activity()
    inside = [
        (environment, subscribe(activity, environment=environment))
        for environment in islice(cycle(ENVIRONMENTS), SUBSCRIBERS_LIMIT)
    ]
    assert activity.subscribe("acme", "test") is None
    subscribe(activity, "other")
    for environment, subscriber in inside:
        activity.unsubscribe("acme", environment, subscriber)
        subscribe(activity, environment="test")
        assert activity.subscribe("acme", "live") is None


async def test_twenty_calls_of_one_second_are_reported_and_the_others_counted() -> None:
    activity = Activity()
    subscriber = subscribe(activity)
    for at, calls in ((1, CALLS_PER_S + 5), (2, 1)):
        for number in range(calls):
            activity.tell("acme", "test", ActivityEvent("call", at, {"number": number}))
    happened, lost = await subscriber.take(0)
    assert [event.kind for event in happened] == ["call"] * (CALLS_PER_S + 1) + ["calls"]
    assert (happened[-1].detail, lost) == ({"untold": 5}, 0)
    assert [event.at for event in happened[-2:]] == [2, 2]
    activity.tell("acme", "test", ActivityEvent("call", 2, {"number": 1}))
    assert [event.kind for event in (await subscriber.take(0))[0]] == ["call"]
