"""Sessions that go out in a format of others and come back: what each format has room for is there again."""

import io
import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from counted_sessions import COUNTED

from workbench.cli.console import Console
from workbench.cli.dispatch import dispatch
from workbench.domain import events as e
from workbench.journal.home import Home
from workbench.journal.journal import Journal


def imported(data, folder, monkeypatch, name="file"):
    """Import bytes into a home of their own; return the session and its events."""
    monkeypatch.setenv("WORKBENCH_HOME", str(folder / "home"))
    folder.mkdir()
    path = folder / name
    path.write_bytes(data)
    console = Console(io.StringIO(), io.StringIO())
    assert dispatch(["sessions", "import", str(path)], console) == 0, console.err.getvalue()
    with Journal.open(Home.open()) as journal:
        (session,) = (one for one in journal.sessions() if one.id != "system" and one.parent_id is None)
        return session, journal.events(session.id), journal.calls(session.id)


def written(session, form):
    console = Console(io.StringIO(), io.StringIO())
    assert dispatch(["sessions", "export", session.id, "--format", form], console) == 0
    return console.out.getvalue().encode()


def texts(events, kind):
    return [event.body.text for event in events if isinstance(event.body, kind) and event.body.text]


@pytest.mark.parametrize("name", ["claude", "codex", "pi", "opencode", "swe-agent"])
def test_kaiak_comes_back_with_prompts_replies_and_calls(name, tmp_path, monkeypatch):
    session, events, calls = imported(COUNTED[name], tmp_path / "one", monkeypatch)
    again, others, same = imported(written(session, "kaiak"), tmp_path / "two", monkeypatch, "file.jsonl")
    assert (again.origin, again.workspace, again.model) == ("kaiak", session.workspace, session.model)
    for kind in (e.PromptSubmitted, e.ReplyCompleted):
        assert texts(others, kind) == texts(events, kind)
    ran = [call for call in calls if call.started_at is not None]
    assert [(call.tool, call.parameters) for call in same] == [(call.tool, call.parameters) for call in ran]


@pytest.mark.parametrize("name", ["claude", "codex", "pi"])
def test_a_trajectory_has_all_tokens_and_the_cost(name, tmp_path, monkeypatch):
    session, _, _ = imported(COUNTED[name], tmp_path / "one", monkeypatch)
    trajectory = written(session, "atif")
    document = json.loads(trajectory)
    assert (
        session.usage.input_tokens
        and document["final_metrics"]["total_prompt_tokens"] == session.usage.input_tokens
    )
    assert (
        sum(step.get("metrics", {}).get("prompt_tokens", 0) for step in document["steps"])
        == session.usage.input_tokens
    )
    again, _, _ = imported(trajectory, tmp_path / "two", monkeypatch, "file.json")
    assert again.usage.output_tokens == session.usage.output_tokens
    assert again.usage.cache_read_tokens == session.usage.cache_read_tokens
    assert again.usage.cost_microdollars == session.usage.cost_microdollars
