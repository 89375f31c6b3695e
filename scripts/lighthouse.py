#!/usr/bin/env python3
"""Lets Lighthouse judge the main pages of the portal, signed in at a running demo.

    scripts/lighthouse.py                 all pages: about five minutes on a free machine
    scripts/lighthouse.py keys usage      only these

It needs Chromium, and installs Lighthouse with npm from scripts/lighthouse_pages. The exit code is
1 if a page has less than 95 for performance or best practices, or less than 100 for accessibility.
The performance is that of a desktop on a fast line, as Lighthouse's preset for desktops sets it.
"""

import in_venv  # the first import, because the packages below are installed in .venv

# isort: split

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from playwright.sync_api import Browser, Error, Playwright, sync_playwright

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench_cases.servers import free_port  # noqa: E402  sorted with those below

from tests.browser.demo import running_demo  # noqa: E402  found by the line above
from tests.tools import find_tool  # noqa: E402  as above

FOLDER: Final = ROOT / "scripts" / "lighthouse_pages"
PAGES: Final = {
    "home": "test",
    "find": "test/find",
    "usage": "test/usage",
    "keys": "test/keys",
    "games": "test/games",
    "origins": "test/origins",
    "webhooks": "test/webhooks",
    "prices": "test/prices",
    "theme": "test/theme",
    "invoices": "test/invoices",
    "members": "members",
    "events": "events",
    "account": "account",
}
LEAST: Final = {"performance": 95, "accessibility": 100, "best-practices": 95}
START_S: Final = 30.0  # seconds until the browser answers on its port
JUDGE_S: Final = 180.0  # seconds for one page


def _install() -> None:
    """Install Lighthouse, unless it is there."""
    lock, mark = FOLDER / "package-lock.json", FOLDER / "node_modules" / ".locked"
    if not mark.exists() or mark.read_bytes() != lock.read_bytes():
        options = ["--no-save", "--no-fund", "--no-audit", "--ignore-scripts", "--loglevel=error"]
        subprocess.run(["npm", *options, "install"], cwd=FOLDER, env=_env(), check=True)
        mark.write_bytes(lock.read_bytes())


def _env() -> dict[str, str]:
    return {**os.environ, "PATH": f"{ROOT / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"}


def _sign_in(playwright: Playwright, port: int, base_url: str) -> None:
    """Sign in at the demo's issuer, which then knows the browser's profile."""
    browser = _connected(playwright, port)
    page = browser.contexts[0].new_page()
    page.goto(f"{base_url}/portal/test/keys")
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("button", name="Dana Demo").click()
    page.get_by_role("heading", name="API keys", level=1).wait_for()
    page.close()
    browser.close()


def _connected(playwright: Playwright, port: int) -> Browser:
    until = time.monotonic() + START_S
    while True:
        try:
            return playwright.chromium.connect_over_cdp(f"http://127.0.0.1:{port}")
        except Error:
            if time.monotonic() > until:
                raise
            time.sleep(0.2)


def _judged(url: str, port: int) -> dict[str, int]:
    """Return the scores of a page by category."""
    done = subprocess.run(
        [
            str(FOLDER / "node_modules" / ".bin" / "lighthouse"),
            url,
            f"--port={port}",
            "--preset=desktop",
            "--disable-storage-reset",
            f"--only-categories={','.join(LEAST)}",
            "--output=json",
            "--quiet",
        ],
        env=_env(),
        capture_output=True,
        text=True,
        timeout=JUDGE_S,
        check=False,
    )
    if done.returncode != 0:
        sys.exit(f"lighthouse: {url} was not judged.\n{done.stderr}")
    report = json.loads(done.stdout)
    assert report["finalDisplayedUrl"] == url, "the portal has led to another page"
    points = {name: round(100 * report["categories"][name]["score"]) for name in LEAST}
    for name, least in LEAST.items():
        if points[name] < least:
            wrong = [
                report["audits"][part["id"]]["title"]
                for part in report["categories"][name]["auditRefs"]
                if part["weight"] and (report["audits"][part["id"]]["score"] or 0) < 1
            ]
            print(f"  {name}: {'; '.join(wrong)}", file=sys.stderr)
    return points


def main(names: list[str]) -> int:
    """Judge pages; return the exit code."""
    unknown = set(names) - PAGES.keys()
    if unknown:
        print(f"lighthouse: no page {unknown.pop()}; there are {', '.join(PAGES)}", file=sys.stderr)
        return 2
    _install()
    port, low = free_port(), False
    with TemporaryDirectory() as folder, running_demo(Path(folder)) as demo:
        command = [
            find_tool("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"),
            "--headless=new",
            "--no-sandbox",
            "--no-first-run",
            f"--remote-debugging-port={port}",
            f"--user-data-dir={folder}/profile",
            "about:blank",
        ]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as on:
            try:
                with sync_playwright() as playwright:
                    _sign_in(playwright, port, demo["baseUrl"])
                for name in names or PAGES:
                    points = _judged(f"{demo['baseUrl']}/portal/{PAGES[name]}", port)
                    shown = "  ".join(f"{key} {value}" for key, value in points.items())
                    print(f"{name:<10}{shown}", flush=True)
                    low = low or any(points[key] < least for key, least in LEAST.items())
            finally:
                on.terminate()
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
