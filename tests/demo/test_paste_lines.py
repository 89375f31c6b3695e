"""The lines that the demo prints for pasting."""

from pathlib import Path

import trio

from pgs.demo.curl import paste_lines
from tests.demo.service import demo_service
from tests.demo.shell import run_shell
from tests.patience import PATIENCE_S


async def test_the_pasted_lines_play_a_whole_match(tmp_path: Path) -> None:
    with trio.fail_after(PATIENCE_S):
        async with demo_service(tmp_path) as (service, demo, _):
            lines = [
                line for _, line in paste_lines(service.base_url, demo.test_key, "order-fresh", 0)
            ]
            printed = await run_shell(
                "\n".join(f"{line}; echo" for line in lines), tmp_path, real_curl=False
            )
    answers = printed.splitlines()
    assert '"environment":"test"' in answers[0]
    assert any('"status":"waiting"' in answer for answer in answers)
    assert any('"status":"matched"' in answer for answer in answers)
    assert any('"endReason":"decided_by_test_key"' in answer for answer in answers)
    assert any('"outcome":"started"' in answer for answer in answers)
    assert any('"outcome":"ended"' in answer for answer in answers)
    assert '"reason":"stake_below_floor"' in printed
