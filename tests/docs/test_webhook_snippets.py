"""The snippets for partners agree with the service's own verifier, whatever is sent."""

import json
import os
import re
import shutil
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path

import pytest
import trio

from pgs.clock import SystemClock
from pgs.domain.nudges import nudge_body, signature_header, verify_signature
from tests.conventions.tree import ROOT
from tests.patience import PATIENCE_S
from tests.tools import find_tool

GUIDE = (ROOT / "docs" / "webhooks.md").read_text(encoding="utf-8")
SECRET = "whsec_" + "A" * 43
AT = 1_800_000_000
BODY = nudge_body("acme", AT)
HEADER = signature_header(SECRET, AT, BODY)
MAC = HEADER.partition("v1=")[2]

# Header, body, and the receiver's time in epoch seconds.
CASES: list[tuple[str, bytes, int]] = [
    (HEADER, BODY, AT),
    (HEADER, BODY, AT + 300),
    (HEADER, BODY, AT - 300),
    (HEADER, BODY, AT + 301),
    (HEADER, BODY, AT - 301),
    (HEADER, BODY + b"\n", AT),
    (HEADER, json.dumps(json.loads(BODY)).encode(), AT),
    (HEADER, b"", AT),
    (signature_header(SECRET, AT, b""), b"", AT),
    (signature_header(SECRET, AT, b"\xff\x00\xfe"), b"\xff\x00\xfe", AT),
    (signature_header(SECRET, AT, b"\xff"), b"\xef\xbf\xbd", AT),
    (signature_header("whsec_" + "B" * 43, AT, BODY), BODY, AT),
    (signature_header(SECRET.removeprefix("whsec_"), AT, BODY), BODY, AT),
    (f"t={AT + 1},v1={MAC}", BODY, AT),
    (f"t={AT},v1={MAC.upper()}", BODY, AT),
    (f"t={AT},v1={MAC[:-1]}", BODY, AT),
    (f"t={AT},v1={MAC}0", BODY, AT),
    (f"t={AT},v1={MAC}\n", BODY, AT),
    (f"t={AT},v1={MAC[:-1]}\u00e9", BODY, AT),
    (f"t={AT},v1=", BODY, AT),
    (f"t={AT},v0={MAC}", BODY, AT),
    (f"t={AT}", BODY, AT),
    (f"v1={MAC}", BODY, AT),
    (f"t=,v1={MAC}", BODY, AT),
    (f"t=-{AT},v1={MAC}", BODY, AT),
    (f"t={AT}.0,v1={MAC}", BODY, AT),
    (f"t={'9' * 5000},v1={MAC}", BODY, AT),
    (f"t=1_800_000_000,v1={MAC}", BODY, AT),
    (f"t=\u0661{str(AT)[1:]},v1={MAC}", BODY, AT),
    ("", BODY, AT),
    (",", BODY, AT),
    ("=", BODY, AT),
]
EXPECTED = [verify_signature(SECRET, header, body, now) for header, body, now in CASES]


def _snippet(language: str) -> str:
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
    return str(found)


def test_the_cases_hold_good_and_bad_signatures() -> None:
    assert EXPECTED.count(True) == 5
    assert len(EXPECTED) > 30


def test_the_python_snippet_agrees_with_the_service() -> None:
    names: dict[str, Callable[..., bool]] = {}
    program = compile(_snippet("python"), "webhooks.md", "exec")
    exec(program, names)  # noqa: S102 - it comes from our own page
    assert [
        names["signature_is_valid"](SECRET, header, body, now) for header, body, now in CASES
    ] == EXPECTED
    now = SystemClock().now()
    assert names["signature_is_valid"](SECRET, signature_header(SECRET, now, BODY), BODY)
    assert not names["signature_is_valid"](SECRET, signature_header(SECRET, now - 400, BODY), BODY)
    assert not names["signature_is_valid"](SECRET, None, BODY)


def test_the_python_snippet_is_the_one_of_the_example() -> None:
    function = _snippet("python").partition("\n\n\n")[2]
    assert function in (ROOT / "examples" / "receive_webhooks.py").read_text(encoding="utf-8")


async def test_the_node_snippet_agrees_with_the_service(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("NODE IS NOT INSTALLED: the Node snippet of docs/webhooks.md was not run")
    program = _snippet("js") + (
        'import { readFileSync } from "node:fs";\n'
        'const { secret, cases } = JSON.parse(readFileSync(process.argv[2], "utf8"));\n'
        "const verdicts = cases.map(([header, body, now]) =>\n"
        "  signatureIsValid(secret, header, Buffer.from(body, 'base64'), now));\n"
        "const missing = signatureIsValid(secret, undefined, Buffer.alloc(0));\n"
        "console.log(JSON.stringify([...verdicts, missing]));\n"
    )
    (tmp_path / "verify.mjs").write_text(program, encoding="utf-8")
    cases = [(header, b64encode(body).decode(), now) for header, body, now in CASES]
    (tmp_path / "cases.json").write_text(
        json.dumps({"secret": SECRET, "cases": cases}), encoding="utf-8"
    )
    with trio.fail_after(PATIENCE_S):
        done = await trio.run_process(
            [node, "verify.mjs", "cases.json"],
            cwd=tmp_path,
            capture_stdout=True,
            capture_stderr=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [*EXPECTED, False]


PHP = """
[$secret, $cases] = json_decode(file_get_contents($argv[1]));
$told = fn ($case) => signature_is_valid($secret, $case[0], base64_decode($case[1]), $case[2]);
echo json_encode(array_map($told, $cases));
"""

RUBY = """
require "json"

secret, cases = JSON.parse(File.read(ARGV[0]))
told = cases.map do |header, body, now|
  signature_valid?(secret, header, body.unpack1("m"), now)
end
raise "a missing header is taken" if signature_valid?(secret, nil, "", 0)
puts told.to_json
"""

GO = """package main

import (
	"check/webhooks"
	"encoding/json"
	"os"
	"time"
)

type nudge struct {
	Header string
	Body   []byte
	Now    int64
}

func main() {
	var sent struct {
		Secret string
		Cases  []nudge
	}
	text, _ := os.ReadFile(os.Args[1])
	if err := json.Unmarshal(text, &sent); err != nil {
		panic(err)
	}
	told := []bool{}
	for _, c := range sent.Cases {
		now := time.Unix(c.Now, 0)
		told = append(told, webhooks.SignatureIsValid(sent.Secret, c.Header, c.Body, now))
	}
	json.NewEncoder(os.Stdout).Encode(told)
}
"""


def _encoded() -> list[tuple[str, str, int]]:
    return [(header, b64encode(body).decode(), now) for header, body, now in CASES]


async def _verdicts(folder: Path, *command: str) -> object:
    """Return what a program in `folder` says about the cases."""
    with trio.fail_after(240):
        done = await trio.run_process(
            command,
            cwd=folder,
            capture_stdout=True,
            capture_stderr=True,
            check=False,
            env=os.environ | {"GOCACHE": str(folder / "cache"), "GOFLAGS": "-mod=mod"},
        )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(("tool", "program"), [("php", PHP), ("ruby", RUBY)])
async def test_the_snippets_in_php_and_ruby_agree_with_the_service(
    tmp_path: Path, tool: str, program: str
) -> None:
    found = find_tool(tool)
    (tmp_path / "verify").write_text(_snippet(tool) + program, encoding="utf-8")
    (tmp_path / "cases.json").write_text(json.dumps([SECRET, _encoded()]), encoding="utf-8")
    assert await _verdicts(tmp_path, found, "verify", "cases.json") == EXPECTED


@pytest.mark.slow
async def test_the_go_snippet_agrees_with_the_service(tmp_path: Path) -> None:
    go = find_tool("go")
    (tmp_path / "webhooks").mkdir()
    (tmp_path / "webhooks" / "webhooks.go").write_text(_snippet("go"), encoding="utf-8")
    (tmp_path / "main.go").write_text(GO, encoding="utf-8")
    (tmp_path / "go.mod").write_text("module check\n\ngo 1.18\n", encoding="utf-8")
    cases = [{"header": header, "body": body, "now": now} for header, body, now in _encoded()]
    (tmp_path / "cases.json").write_text(
        json.dumps({"secret": SECRET, "cases": cases}), encoding="utf-8"
    )
    assert await _verdicts(tmp_path, go, "run", ".", "cases.json") == EXPECTED


@pytest.mark.parametrize(
    ("language", "constant_time"),
    [
        ("python", "compare_digest"),
        ("js", "timingSafeEqual"),
        ("go", "hmac.Equal"),
        ("php", "hash_equals"),
        ("ruby", "secure_compare"),
    ],
)
def test_every_snippet_compares_in_constant_time_and_allows_five_minutes(
    language: str, constant_time: str
) -> None:
    snippet = _snippet(language)
    assert constant_time in snippet
    assert "300" in snippet


def test_the_example_signature_of_the_guide_is_right() -> None:
    assert f"`{SECRET}`" in GUIDE
    assert f"`{BODY.decode()}`" in GUIDE
    assert f"`{HEADER}`" in GUIDE
