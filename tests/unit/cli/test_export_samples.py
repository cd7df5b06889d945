"""Every sample of every format, taken in, sent out in every form, and taken in again elsewhere."""

import json
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "formats"))
from foreign_files import FILES

TOKEN = "ghp_" + "a1B2" * 9
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
FORMS = ("events", "wink", "kaiak", "assistant", "atif", "markdown")
STEP = {
    "step_id", "timestamp", "source", "model_name", "reasoning_content", "message", "tool_calls", "observation",
    "metrics", "extra",
}  # fmt: skip
OF_AGENTS = {"model_name", "reasoning_content", "tool_calls", "metrics"}


@pytest.fixture
def imported(shell, tmp_path, monkeypatch):
    """Return the ids of the sessions of all samples, with a secret and a control character in them."""
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    for name, (data, *_) in FILES.items():
        # A database is not a text in which words can grow.
        for word in (
            ()
            if data.startswith(b"SQLite")
            else (b"fix it", b"rename it", b"change it", b"edit it", b"make it")
        ):
            data = data.replace(word, word + f" {TOKEN} \u202e".encode())
        (tmp_path / name).write_bytes(data)
    found = shell.json("sessions", "import", *(str(tmp_path / name) for name in FILES), "--json")
    assert [one["file"] for one in found["files"] if one["why_not"]] == []
    return [one["id"] for one in found["sessions"]]


def exported(shell, key, form):
    assert shell("sessions", "export", key, "--format", form) == 0, shell.err
    return shell.out


@pytest.mark.spec(210, 213)
def test_what_leaves_comes_back_equal_and_holds_no_secret_and_no_control(
    shell, tmp_path, monkeypatch, imported
):
    for key in imported:
        for form in FORMS:
            text = exported(shell, key, form)
            assert TOKEN not in text, (key, form)
            assert not CONTROLS.search(text), (key, form)
    before = {key: exported(shell, key, "events") for key in imported}
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "other"))
    for key, text in before.items():
        path = tmp_path / f"{key}.jsonl"
        path.write_text(text, encoding="utf-8")
        assert shell("sessions", "import", str(path)) == 0
        assert plain(exported(shell, key, "events")) == plain(text)


def plain(text):
    lines = [json.loads(line) for line in text.splitlines()]
    return [{key: value for key, value in line.items() if key != "recorded_at"} for line in lines]


def test_a_trajectory_keeps_the_rules_of_atif(shell, tmp_path, monkeypatch, imported):
    for key in imported:
        found = json.loads(exported(shell, key, "atif"))
        steps = found["steps"]
        assert [step["step_id"] for step in steps] == list(range(1, len(steps) + 1))
        assert steps
        assert found["final_metrics"]["total_steps"] == len(steps)
        for step in steps:
            assert step.keys() <= STEP
            assert step["source"] == "agent" or not step.keys() & OF_AGENTS
            asked = {call["tool_call_id"] for call in step.get("tool_calls", ())}
            results = step.get("observation", {}).get("results", ())
            assert {one["source_call_id"] for one in results} <= asked
            assert all(one.keys() == {"source_call_id", "content"} for one in results)


def test_a_trajectory_tells_how_its_calls_ended(shell, tmp_path, monkeypatch, imported):
    states = {}
    for key in imported:
        text = exported(shell, key, "atif")
        ended = [
            state
            for step in json.loads(text)["steps"]
            for state in step.get("extra", {}).get("states", {}).values()
        ]
        states[key] = (ended, text)
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "other"))
    for ended, text in states.values():
        path = tmp_path / "trajectory.json"
        path.write_text(text, encoding="utf-8")
        (session,) = shell.json("sessions", "import", str(path), "--json")["sessions"]
        again = json.loads(exported(shell, session["id"], "atif"))["steps"]
        assert [
            state for step in again for state in step.get("extra", {}).get("states", {}).values()
        ] == ended
