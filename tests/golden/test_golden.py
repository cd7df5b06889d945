"""The golden sessions are what the kernel makes today, and every law of events holds in them.

`python -m tests.golden.make` writes them anew; a difference that nobody wanted is a defect of the kernel.
"""

import functools
import hashlib
import hmac
import json
import os
import subprocess
import sys
import unicodedata
from collections import Counter
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.golden.make import make
from tests.golden.scenario import SCENARIOS
from tests.golden.unsafe import SECRETS
from tests.support import golden
from tests.support.waits import PATIENCE
from workbench.agents.planner import CallModel, TurnLimits, due_effects
from workbench.agents.reducer import apply_event
from workbench.agents.state import TurnState
from workbench.changes.digest import action_digest, plan_digest_rows
from workbench.domain.codec import (
    EVENT_BODIES,
    EVENT_FORMAT_VERSION,
    event_from_line,
    event_to_line,
    to_json_value,
)
from workbench.domain.events import ActionOpened
from workbench.domain.fold import MemoryTables
from workbench.domain.machines import SETTLED_CALL_STATES
from workbench.journal.index_tables import index_table_differences

NAMES = golden.names()
LIMITS = TurnLimits(max_rounds=50)
LARGEST = 2_000_000

NOWHERE = {
    "session.deleted": "deleting takes the events of a session away, so nothing is left to look at",
    "progress.reported": "a server is asked and answers in pieces; recordings ask none",
    "compaction.requested": "none of them is long; tests/unit/host/test_compaction_of_sessions.py asks for it",
    "conversation.compacted": "as above",
    "fork.requested": "nothing answers it yet",
    "call.repeated": "no agent of theirs makes the same call three times; tests/unit/agents/test_repetition.py does",
    "context.collected": "a command that is made of words is no agent's session; tests/unit/cli/test_ask.py makes some",
    "command.suggested": "as above",
    "prompt.withdrawn": "nobody queues messages in them; tests/unit/host/test_queued_prompts.py takes some back",
    "prompts.reordered": "as above",
    "patch.requested": "no human applies a patch in them; tests/unit/host/test_patches.py does",
    "agents.held": "nobody holds agents in them; tests/unit/host/test_held.py does",
    "agents.released": "as above",
    "sandbox.refused": "their commands have no sandbox; tests/unit/host/test_sandboxed_calls.py has one",
    "rule.placed": "they have no older rules; tests/unit/host/test_old_rules.py does",
}
"""Kinds that no golden session holds, and why."""

each_session = pytest.mark.parametrize("name", NAMES)
made = functools.cache(make)
parsed = functools.cache(lambda name: tuple(golden.events(name)))


def by_session(name):
    found = {}
    for event in parsed(name):
        found.setdefault(event.session_id, []).append(event)
    return found


# --- made again ---------------------------------------------------------------------------------


def test_every_scenario_has_its_session():
    assert sorted(SCENARIOS) == NAMES
    assert len(NAMES) >= 12


def test_the_sample_holds_every_kind_that_a_session_holds():
    kinds = {name: {event.kind for event in parsed(name)} for name in NAMES}
    assert set().union(*kinds.values()) == set().union(*(kinds[name] for name in golden.SAMPLE))


@each_session
@pytest.mark.spec(165)
def test_made_again_it_is_the_same(name):
    stored = {
        str(path.relative_to(golden.FOLDER / name)): path.read_bytes()
        for path in (golden.FOLDER / name).rglob("*")
        if path.is_file()
    }
    again = made(name).files
    assert sorted(again) == sorted(stored)
    for path, data in again.items():
        assert data == stored[path], (
            f"{name}/{path} differs; python -m tests.golden.make {name} writes it anew"
        )


def test_it_is_the_same_in_another_folder_zone_and_language(tmp_path):
    environment = {
        **os.environ, "TMPDIR": str(tmp_path), "TZ": "Pacific/Chatham", "LC_ALL": "C", "PYTHONHASHSEED": "7",
        "WORKBENCH_APPROVALS_WINDOW_MINUTES": "3",
    }  # fmt: skip
    code = (
        "import sys, hashlib; from tests.golden.make import make\n"
        "print(hashlib.sha256(make('commands').files['session.jsonl']).hexdigest())"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=golden.FOLDER.parents[1], capture_output=True,
        text=True, check=True, timeout=PATIENCE,
    )  # fmt: skip
    stored = (golden.FOLDER / "commands" / "session.jsonl").read_bytes()
    assert run.stdout.strip() == hashlib.sha256(stored).hexdigest()


@each_session
def test_the_fold_of_the_file_is_the_fold_of_the_live_journal(name):
    rows = MemoryTables().fold(parsed(name))
    live = made(name).tables
    assert {
        table: {key: to_json_value(row) for key, row in getattr(rows, table).items()} for table in live
    } == live


# --- the file -------------------------------------------------------------------------------------


@each_session
def test_the_first_line_says_what_it_is(name):
    assert golden.header(name) == {"workbench_session": 1, "schema": EVENT_FORMAT_VERSION}


@each_session
def test_every_line_prints_back_to_itself(name):
    printed = [event_to_line(event) for event in parsed(name)]
    assert printed == [line for line in golden.lines(name) if not line.startswith('{"blob":')]


@each_session
def test_numbers_have_no_gaps_and_times_never_fall(name):
    events = parsed(name)
    assert [event.position for event in events] == list(range(1, len(events) + 1))
    for of_session in by_session(name).values():
        assert [event.sequence_number for event in of_session] == list(range(1, len(of_session) + 1))
    times = [event.at for event in events]
    assert times == sorted(times)
    assert len({event.id for event in events}) == len(events)


def test_no_two_sessions_share_an_identifier():
    ids = Counter(event.id for name in NAMES for event in parsed(name))
    assert [identifier for identifier, count in ids.items() if count > 1] == []


@each_session
def test_it_holds_no_secret_no_control_character_and_no_trace_of_a_machine(name):
    text = (golden.FOLDER / name / "session.jsonl").read_text(encoding="utf-8")
    assert [secret for secret in SECRETS if secret in text] == []
    controls = {character for character in text if unicodedata.category(character) in ("Cc", "Cs")}
    assert controls == {"\n"}
    assert [trace for trace in ("/tmp", "/private", "/var/", str(Path.home())) if trace in text] == []


@pytest.mark.spec(202)
def test_a_secret_that_the_agent_used_left_its_mark_only():
    text = made("secrets").files["session.jsonl"].decode()
    assert [secret for secret in SECRETS if secret in text] == []
    assert "⟨secret: github-token⟩" in text
    assert "⟨secret: aws-key⟩" in text


@each_session
def test_blobs_are_recorded_ones_under_their_keyed_names(name):
    for ref, data in golden.blobs(name).items():
        kind, _, digest = ref.partition(":")
        assert kind == "recorded"
        assert digest == hmac.new(golden.KEY, data, hashlib.sha256).hexdigest()


@each_session
def test_digests_of_actions_are_those_of_what_the_file_shows(name):
    def keyed(data):
        return hmac.new(golden.KEY, data, hashlib.sha256).hexdigest()

    opened = [event.body for event in parsed(name) if isinstance(event.body, ActionOpened)]
    for body in opened:
        if body.parameters_ref is not None:
            continue
        parameters = body.subject if body.action_kind in ("trust", "gate", "files") else body.parameters
        assert body.digest == action_digest(
            keyed, kind=body.action_kind, tool=body.tool, parameters=parameters, cwd=body.cwd,
            files=plan_digest_rows(body.files), prompt=body.prompt, choices=body.choices or None,
        )  # fmt: skip


def test_all_of_them_are_small():
    sizes = [path.stat().st_size for path in golden.FOLDER.rglob("*") if path.is_file()]
    files = {name: len((golden.FOLDER / name / "session.jsonl").read_bytes()) for name in NAMES}
    assert sum(files.values()) < LARGEST, files
    assert max(sizes) < LARGEST


# --- what happens in them -----------------------------------------------------------------------------


def test_every_kind_of_event_occurs_or_is_excused():
    seen = {event.kind for name in NAMES for event in parsed(name)}
    known = {body.KIND for body in EVENT_BODIES}
    assert known - seen == set(NOWHERE)
    assert "weather.observed" in seen - known


def test_every_outcome_of_an_action_and_of_a_call_occurs():
    rows = [MemoryTables().fold(parsed(name)) for name in NAMES]
    actions = {action.state for row in rows for action in row.actions.values()}
    assert actions == {"pending", "approved", "rejected", "expired", "cancelled", "superseded"}
    calls = {call.state for row in rows for call in row.calls.values()}
    assert calls >= SETTLED_CALL_STATES
    bodies = [event.body for name in NAMES for event in parsed(name)]
    verdicts = {body.verdict.outcome for body in bodies if body.KIND == "call.proposed"}
    assert verdicts == {"allowed", "ask", "denied", "refused"}
    refusals = {body.why for body in bodies if body.KIND == "answer.refused"}
    assert refusals >= {"decided", "expired", "superseded", "stale", "digest", "limit"}
    details = {body.detail for body in bodies if body.KIND == "call.finished"}
    assert details >= {
        "", "partial", "stale", "withdrawn", "stopped", "timeout", "exit 1", "outcome unknown", "recovered",
        "nothing written", "rolled back",
    }  # fmt: skip
    endings = {body.outcome for body in bodies if body.KIND == "turn.ended"}
    assert endings == {"done", "interrupted", "limit", "error", "unattended"}


def test_a_long_session_is_long():
    assert len(parsed("long-session")) >= 2_000
    turns = [event for event in parsed("long-session") if event.kind == "turn.ended"]
    assert len(turns) >= 40


# --- every prefix --------------------------------------------------------------------------------------


@each_session
@pytest.mark.spec(138)
def test_usage_never_falls_at_any_event(name):
    tables, before = MemoryTables(), {}
    for event in parsed(name):
        tables.fold((event,))
        for key, session in tables.sessions.items():
            usage = session.usage
            known = before.get(key, usage)
            assert usage.input_tokens >= known.input_tokens >= 0
            assert usage.output_tokens >= known.output_tokens >= 0
            assert usage.total_tokens == usage.input_tokens + usage.output_tokens
            before[key] = usage


@each_session
def test_no_prefix_calls_the_model_while_a_call_is_open(name):
    for of_session in by_session(name).values():
        state, tables = TurnState(), MemoryTables()
        for event in of_session:
            state = apply_event(state, event)
            tables.fold((event,))
            due = due_effects(state, LIMITS)
            open_calls = [call.id for call in tables.calls.values() if call.state not in SETTLED_CALL_STATES]
            assert not (open_calls and any(isinstance(effect, CallModel) for effect in due))


@each_session
def test_folding_in_two_parts_is_folding_at_once(name):
    events = parsed(name)
    whole = MemoryTables().fold(events)
    for cut in range(0, len(events), max(1, len(events) // 7)):
        assert (
            MemoryTables()
            .fold(events[:cut])
            .fold(event_from_line(event_to_line(event)) for event in events[cut:])
            == whole
        )


@each_session
def test_nothing_is_due_at_the_end_but_what_waits_for_its_human(name):
    rows = MemoryTables().fold(parsed(name))
    waiting = {action.session_id for action in rows.actions.values() if action.state == "pending"}
    for session_id, events in by_session(name).items():
        state = functools.reduce(apply_event, events, TurnState())
        if session_id not in waiting:
            assert due_effects(state, LIMITS) == ()


# --- loaded ----------------------------------------------------------------------------------------------


@each_session
def test_loaded_into_a_fresh_home_the_tables_are_the_same(name, tmp_path):
    with golden.load(name, tmp_path / "home") as journal:
        assert index_table_differences(journal) == []
        rows = MemoryTables().fold(parsed(name))
        assert {row.id: row for row in journal.sessions()} == rows.sessions
        assert {row.id: row for row in journal.actions()} == rows.actions
        # What comes from a file uses no rule here: use counts are about this home.
        unused = {key: replace(rule, use_count=0, last_used_at=None) for key, rule in rows.rules.items()}
        assert {rule.id: rule for rule in journal.rules(active=False)} == unused
        for ref, data in golden.blobs(name).items():
            assert journal.blobs.read(ref) == data


def test_a_recording_can_be_read_as_it_is_kept():
    from workbench.providers.recording import load_recording

    for name in NAMES:
        read = {
            load_recording(path).sha256
            for path in (golden.FOLDER / name).glob("**/*.json")
            if _is_recording(path)
        }
        created = [e.body for e in parsed(name) if e.kind == "session.created"]
        played = {
            body.configuration["recording"]["sha256"] for body in created if "recording" in body.configuration
        }
        assert played == read


def _is_recording(path):
    return path.name == "recording.json" or path.parent.name == "recordings"


def test_the_header_of_a_session_is_one_line_of_json():
    for name in NAMES:
        first = (golden.FOLDER / name / "session.jsonl").read_text(encoding="utf-8").split("\n", 1)[0]
        assert json.loads(first)["workbench_session"] == 1
