"""Keys planted wherever text comes in: none is in the data folder, in what was printed or in what was exported.

Sealed bytes are the exception that the design names (`blobs/sealed`, mode 0600): execution, undo and diffs need
exactly what there was. A key that the user writes into a file of his own is his.
"""

import hashlib
import json
import stat
import subprocess
import sys

import pytest

from tests.support.chat_server import ChatServer, error
from tests.support.sizes import IS_CAMPAIGN
from tests.support.stage import call, exchange, recording, text
from tests.support.waits import PATIENCE

KINDS = ("openai-compatible", "anthropic", "azure-openai", "ollama", "openai-responses")
"""Kinds of provider: each sends a key, and its server says the key back."""
PLACES = (
    *KINDS,
    "prompt", "streamed", "read", "written", "command", "output", "failing output", "model error", "reason",
    "title", "tag", "imported prompt", "imported output", "hook", "step output", "run input", "crash",
)  # fmt: skip


def key(place):
    """Return a fabricated key of a documented form, another one for each place."""
    return f"ghp_Fabr1cated{hashlib.sha256(place.encode()).hexdigest()[:22]}"


def spelled(place):
    """Return a command that prints the key of a place without holding it."""
    return f"printf '%s%s\\n' ghp_ {key(place)[4:]}"


SCRIPT = recording(
    exchange(
        text(f"I take {key('streamed')[:13]}"), text(f"{key('streamed')[13:]} for it."),
        call("c1", "read_file", path="settings.env"),
        call("c2", "create_file", path="deploy.env", content=f"GITHUB_TOKEN={key('written')}\n"),
        call("c3", "run_in_terminal", command=f"{spelled('output')}; : {key('command')}"),
        call("c4", "run_in_terminal", command=f"{spelled('failing output')} >&2; exit 3"),
        call("c5", "list_dir", path="."),
    ),
    exchange({"error": {"status": 401, "message": f"bad credentials: {key('model error')}"}}),
)  # fmt: skip

CRASH = """
import sys
from workbench.cli.console import Console
from workbench.cli.errors import report_error
try:
    raise RuntimeError(f"what was not expected holds {sys.argv[1]}")
except RuntimeError as error:
    sys.exit(report_error(error, Console()))
"""

PIPELINE = f"""
kind: WavePipeline
metadata: {{name: keys}}
steps:
  - id: say
    workspace: {{root: ./}}
    exec: {{type: command, source: "{spelled("step output").replace(chr(92), chr(92) * 2)}; echo {{{{ input }}}}"}}
    output_artifacts:
      - {{name: said, source: stdout}}
"""

MANIFEST = """
apiVersion: v1
kind: WaveManifest
metadata: {name: keys}
adapters:
  own: {binary: workbench, mode: headless}
personas:
  nobody: {adapter: own, system_prompt_file: prompts/nobody.md}
runtime:
  workspace_root: .wave/workspaces
  audit: {log_all_tool_calls: true, log_dir: .wave/traces/}
"""


def imported(line, kind, content):
    return json.dumps(
        {
            "type": kind, "uuid": f"u{line}", "parentUuid": f"u{line - 1}" if line else None, "cwd": "/home/me/shop",
            "sessionId": "s1", "timestamp": f"2026-11-21T12:00:{line:02}Z", "message": {"role": kind, "content": content},
        }
    )  # fmt: skip


IMPORT = "\n".join(
    [
        imported(0, "user", f"use {key('imported prompt')}"),
        imported(
            1, "assistant", [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "env"}}]
        ),
        imported(
            2,
            "user",
            [{"type": "tool_result", "tool_use_id": "t1", "content": f"T={key('imported output')}"}],
        ),
    ]
)


FORMS = ("events", "atif", "html", "cast")
"""One form of each writer at every commit: events, conversations, pages, films."""
if IS_CAMPAIGN:
    FORMS += ("markdown", "wink", "kaiak", "assistant", "svg")


@pytest.fixture
def servers(monkeypatch):
    """Settings of a provider of each kind, whose server answers every question with the keys it was sent."""
    words = f"bad credentials: {' '.join(map(key, KINDS))}"
    with ChatServer(otherwise=error("400 Bad Request", words)) as server:
        for kind in KINDS:
            monkeypatch.setenv(variable(kind), key(kind))
        yield {
            kind: {"kind": kind, "base_url": server.base_url, "key_env": variable(kind), "model": "m"}
            for kind in KINDS
        }
        assert {key(kind) for kind in KINDS} <= {word for one in server.asked for word in sent_words(one)}


def variable(kind):
    return f"PLANTED_{kind.upper().replace('-', '_')}"


def sent_words(asked):
    return " ".join(asked.headers.values()).split()


@pytest.fixture
def told(shop, servers):
    """Live a life with keys in it, and return everything that was said on the way."""
    shop.recording.write_text(json.dumps(SCRIPT))
    (shop.project / "settings.env").write_text(f"TOKEN={key('read')}\n")
    (shop.root / "hook.txt").write_text(f"not with {key('hook')}")
    shop.home.mkdir(mode=0o700)
    hook = {"matcher": "LS", "command": f"cat {shop.root}/hook.txt; exit 1"}
    (shop.home / "config.json").write_text(
        json.dumps({"config_version": 1, "hooks": {"PreToolUse": [hook]}, "providers": servers})
    )
    said = []

    def call_it(*words, **more):
        done = shop.call(*words, **more)
        said.append(done.stdout + done.stderr)
        return done.stdout

    run = shop.run("--output-format", "stream-json", prompt=f"log in with {key('prompt')}")
    for action in shop.waiting(4):
        call_it("approvals", "approve", action["id"], "--reason", f"as {key('reason')} may")
    said.append("".join(run.communicate(timeout=PATIENCE)))
    (session,) = shop.json("sessions", "list")
    call_it("sessions", "rename", session["id"], f"with {key('title')}")
    call_it("sessions", "tag", session["id"], key("tag"))
    (shop.root / "foreign.jsonl").write_text(IMPORT)
    call_it("sessions", "import", str(shop.root / "foreign.jsonl"))
    (shop.project / "wave.yaml").write_text(MANIFEST)
    (shop.project / "keys.yaml").write_text(PIPELINE)
    (shop.project / "prompts").mkdir()
    (shop.project / "prompts" / "nobody.md").write_text("You do nothing.")
    call_it("trust", "--yes")
    call_it("pipeline", "run", "keys.yaml", "--input", key("run input"))
    call_it("pipeline", "logs", "keys#1")
    for one in shop.json("sessions", "list", "--all"):
        for form in FORMS:
            call_it("sessions", "export", one["id"], "--format", form)
    call_it("sessions", "show", session["id"])
    call_it("doctor", code=1)
    for more in ({}, {"WORKBENCH_DEBUG": "1"}):
        argv = [sys.executable, "-c", CRASH, key("crash")]
        crash = subprocess.run(
            argv, env={**shop.env(), **more}, cwd=shop.project, capture_output=True, text=True
        )
        said.append(crash.stdout + crash.stderr)
    assert "RuntimeError" in said[-1]
    assert "RuntimeError" in (shop.home / "logs" / "cli.log").read_text()
    return said


@pytest.mark.spec(202)
def test_no_key_is_kept_or_said_anywhere_but_sealed(shop, told):
    sealed = shop.home / "blobs" / "sealed"
    folders = (shop.home, shop.project / ".wave" / "traces")
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    kept = {str(path): path.read_bytes() for path in files if not path.is_relative_to(sealed)}
    assert any(name.endswith("journal.db") for name in kept)
    assert any("traces" in name for name in kept)
    found = [
        (place, where)
        for place in PLACES
        for where, content in [*kept.items(), *((f"said {n}", said.encode()) for n, said in enumerate(told))]
        if key(place).encode() in content
    ]
    assert found == []
    # They were really there: in the files that were to be written, in sealed bytes, and as marks.
    assert key("written") in (shop.project / "deploy.env").read_text()
    assert "\n".join(told).count("⟨secret: github-token⟩") > len(PLACES)
    exact = [path for path in sealed.rglob("*") if path.is_file()]
    assert any(key("written").encode() in path.read_bytes() for path in exact)
    assert {stat.S_IMODE(path.stat().st_mode) for path in exact} == {0o600}
