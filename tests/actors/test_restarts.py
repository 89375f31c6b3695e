"""How crashes are counted under limits other than the product's."""

from pgs.actors.kernel.restarts import RestartCounter, RestartLimit


def test_after_its_cool_down_a_partner_has_no_crashes_counted() -> None:
    restarts = RestartCounter(RestartLimit(restarts=1, within_s=100.0, cool_down_s=10.0))
    assert [restarts.crashed(0.0), restarts.crashed(1.0)] == [False, True]
    assert restarts.degraded(10.9)
    assert not restarts.degraded(11.0)
    assert [restarts.crashed(11.0), restarts.crashed(12.0)] == [False, True]
