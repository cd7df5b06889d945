"""What leaves as a trajectory (ATIF) comes back with its tokens, its questions and the files it changed."""

import io
import json
import sys
from collections import Counter
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from counted_sessions import COUNTED
from foreign_files import FILES

from tests.support.tables import each_row
from workbench.domain import events as e
from workbench.domain.fold import MemoryTables
from workbench.formats import atif, detect

REAL = Path(__file__).resolve().parents[4] / "shared" / "data" / "sessions"
CODEX = sorted(REAL.glob("codex*.jsonl")) if REAL.is_dir() else []


def imported(data):
    opened = detect.open_file(
        io.BytesIO(data),
        "x.json",
        1_700_000_000_000_000,
        None,
        store=lambda _: None,
        current_id=lambda key: key,
    )
    events = list(opened.events)
    found = [event for event in events if event.session_id == events[0].session_id]
    return found, MemoryTables().fold(found)


def trajectory(events, rows):
    (session,) = rows.sessions.values()
    return atif.write(session, events, list(rows.calls.values()))


def told(events, rows):
    bodies = [event.body for event in events]
    (session,) = rows.sessions.values()
    return {
        "spent": session.usage, "prompts": [body.text for body in bodies if isinstance(body, e.PromptSubmitted)],
        "said": [body.text for body in bodies if isinstance(body, e.ReplyCompleted) and body.text],
        "calls": [(call.tool, call.state) for call in rows.calls.values()],
        "asked": Counter(action.state for action in rows.actions.values()),
        "changed": Counter(body.path for body in bodies if isinstance(body, e.FileChanged)),
    }  # fmt: skip


SAMPLES = {
    **{name: row[0] for name, row in FILES.items()},
    **{f"counted {name}": data for name, data in COUNTED.items()},
}


@each_row("name", SAMPLES)
def test_a_trajectory_comes_back_as_it_was(name):
    events, rows = imported(SAMPLES[name])
    written = trajectory(events, rows)
    assert told(*imported(json.dumps(written).encode())) == told(events, rows)
    (session,) = rows.sessions.values()
    final = written["final_metrics"]
    assert (final["total_prompt_tokens"], final["total_completion_tokens"]) == (
        session.usage.input_tokens, session.usage.output_tokens,
    )  # fmt: skip
    assert final.get("total_cached_tokens", 0) == session.usage.cache_read_tokens
    assert (
        sum(step.get("metrics", {}).get("prompt_tokens", 0) for step in written["steps"])
        == session.usage.input_tokens
    )


def test_tokens_that_only_the_end_counts_are_not_lost():
    document = {
        "schema_version": "ATIF-v1.4", "session_id": "s", "agent": {"name": "x", "version": "1"},
        "steps": [{"step_id": 1, "source": "user", "message": "go"}, {"step_id": 2, "source": "agent", "message": "ok"}],
        "final_metrics": {"total_prompt_tokens": 900, "total_completion_tokens": 20, "total_cached_tokens": 800, "total_cost_usd": 0.5},
    }  # fmt: skip
    events, rows = imported(json.dumps(document).encode())
    (session,) = rows.sessions.values()
    used = session.usage
    assert (used.input_tokens, used.output_tokens, used.cache_read_tokens, used.cost_microdollars) == (
        900,
        20,
        800,
        500_000,
    )
    assert sum(isinstance(event.body, e.ReplyCompleted) for event in events) == 1


@pytest.mark.skipif(not CODEX, reason="the real files are not beside the project")
@each_row("name", [path.name for path in CODEX] or ["none"])
def test_the_tokens_of_a_real_rollout_are_in_its_trajectory(name):
    events, rows = imported((REAL / name).read_bytes())
    assert (
        told(*imported(json.dumps(trajectory(events, rows)).encode()))["spent"] == told(events, rows)["spent"]
    )
