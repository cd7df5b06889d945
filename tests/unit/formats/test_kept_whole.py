"""Nothing is cut that an export cannot undo, scrubbing twice is scrubbing once, and an own export comes back equal."""

import io
import json
import random
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from counted_sessions import COUNTED
from foreign_files import FILES

from tests.unit.secrets import secret_forms
from workbench.cli.console import Console
from workbench.cli.dispatch import dispatch
from workbench.domain import events as e
from workbench.domain.codec import blob_refs, event_to_object
from workbench.formats import detect, sanitize
from workbench.journal.home import Home
from workbench.journal.journal import Journal

REAL = Path(__file__).resolve().parents[4] / "shared" / "data"
REAL_FILES = (
    sorted(path for name in ("sessions", "agents") for path in (REAL / name).rglob("*") if path.is_file())
    if REAL.is_dir()
    else []
)
SECRET = "AKIA" + "Q3EGPXWTV6RYNB2Z"


def fragments(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from fragments(key)
            yield from fragments(item)
    elif isinstance(value, list | tuple | set):
        for item in value:
            yield from fragments(item)


PIECES = [
    text
    for name in dir(secret_forms)
    if name.isupper()
    for text in fragments(getattr(secret_forms, name))
    if text
]


@pytest.mark.parametrize("seed", range(8))
def test_scrubbing_twice_is_scrubbing_once_wherever_a_text_is_cut(seed):
    chance = random.Random(seed)
    for _ in range(60):
        words = "".join(
            chance.choice(PIECES) + chance.choice(["\n", " ", "=", ": ", '"', "&", ""]) for _ in range(40)
        )
        most = chance.randrange(125, len(words) + 200)
        once = sanitize.sanitize_text(words, most)
        assert sanitize.sanitize_text(once, 1 << 28) == once
        record = sanitize.sanitize_record({"a": words, "b": [once, words[:99]]})
        assert sanitize.sanitize_record(record) == record
        short = sanitize.short_object({"x": sanitize.sanitize_text(words * 3)})
        assert sanitize.sanitize_object(short) == short


def claude(*rows):
    about = {"sessionId": "s", "cwd": "/w", "version": "2.0.1", "timestamp": "2026-01-01T10:00:00Z"}
    lines = (
        {**about, "uuid": f"u{number}", "parentUuid": f"u{number - 1}", **row}
        for number, row in enumerate(rows)
    )
    return "".join(f"{json.dumps(line)}\n" for line in lines).encode()


def events_of(data):
    stored = {}

    def store(piece):
        stored[ref := f"recorded:{len(stored)}"] = piece
        return ref

    opened = detect.open_file(io.BytesIO(data), "x", 1, None, store=store, current_id=str)
    return list(opened.events), stored


LONG = "".join(f"line {number} of a long text\n" for number in range(4_000))


def test_arguments_kept_records_summaries_and_errors_are_whole():
    asked = {"type": "tool_use", "id": "t", "name": "Write", "input": {"file_path": "/w/a", "content": LONG}}
    events, _ = events_of(claude(
        {"type": "user", "message": {"role": "user", "content": "go"}},
        {"type": "assistant", "message": {"role": "assistant", "id": "m", "model": "x", "content": [asked]}},
        {"type": "user", "isCompactSummary": True, "message": {"role": "user", "content": LONG}},
        {"type": "novelty", "note": LONG, "many": list(range(9_000)), "picture": "QUJD" * 9_000, "text": f"x {SECRET} " + LONG},
    ))  # fmt: skip
    reply = next(event.body for event in events if isinstance(event.body, e.ReplyCompleted))
    assert reply.calls[0].arguments["content"] == LONG
    kept = {event.kind: event.body.content for event in events if isinstance(event.body, e.Unknown)}
    assert kept["claude-code.compaction"] == LONG
    novelty = kept["claude-code.unknown.novelty"]
    assert novelty["note"] == LONG and len(novelty["many"]) == 9_000
    # What nobody reads is short, and says so; a secret is gone from what is long.
    assert len(novelty["picture"]) < 8_100 and novelty["picture"].endswith("[… cut: 36000 characters in all]")
    assert SECRET not in json.dumps(kept) and len(novelty["text"]) > len(LONG)


def test_an_output_of_megabytes_is_whole_beside_its_event():
    output = LONG * 30
    events, stored = events_of(claude(
        {"type": "assistant", "message": {"role": "assistant", "id": "m", "model": "x", "content": [
            {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "cat"}}]}},
        {"type": "user", "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": output}]}},
    ))  # fmt: skip
    finished = next(event.body for event in events if isinstance(event.body, e.CallFinished))
    assert len(output) > sanitize.MOST_TEXT
    assert stored[finished.output_ref].decode() == output and len(finished.preview) < 11_000


def exported(path, monkeypatch, home):
    """Import a file into a home of its own; return each session's export, its events and the texts beside them."""
    monkeypatch.setenv("WORKBENCH_HOME", str(home))
    console = Console(io.StringIO(), io.StringIO())
    dispatch(["sessions", "import", str(path)], console)
    with Journal.open(Home.open()) as journal:
        found = {}
        for session in sorted(journal.sessions(), key=lambda one: one.id):
            if session.id == "system":
                continue
            texts = Console(io.StringIO(), io.StringIO())
            assert dispatch(["sessions", "export", session.id], texts) == 0
            found[session.id] = (texts.out.getvalue(), *plain(journal, session.id))
        return found


def plain(journal, session_id):
    """Return the events of a session and the texts beside them; a blob is named by what is in it."""
    events, texts = [], []
    for event in journal.events(session_id):
        refs = list(blob_refs(event.body))
        known = {ref: journal.blobs.read(ref) for ref in refs}
        row = event_to_object(event)
        said = json.dumps(
            {key: value for key, value in row.items() if key not in ("position", "recorded_at")}
        )
        for ref in refs:
            said = said.replace(ref, "blob")
        events.append(said)
        texts += known.values()
    return events, texts


def assert_comes_back(path, tmp_path, monkeypatch):
    first = exported(path, monkeypatch, tmp_path / "one")
    for number, (text, events, texts) in enumerate(first.values()):
        again = tmp_path / f"again{number}.jsonl"
        again.write_text(text, encoding="utf-8")
        second = exported(again, monkeypatch, tmp_path / f"two{number}")
        ((_, same, others),) = second.values()
        assert same == events and others == texts
    return len(first)


@pytest.mark.parametrize("name", [*FILES, *(f"counted {name}" for name in COUNTED)])
def test_an_own_export_comes_back_event_for_event(name, tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(COUNTED[name.split()[1]] if name.startswith("counted ") else FILES[name][0])
    assert assert_comes_back(path, tmp_path, monkeypatch) >= 1


def test_texts_that_were_cut_among_secrets_come_back_equal(tmp_path, monkeypatch):
    monkeypatch.setattr(sanitize, "MOST_TEXT", 3_000)
    monkeypatch.setattr(sanitize, "MOST_OUTPUT", 50_000)
    chance = random.Random(4)
    output = "\n".join(chance.choice(PIECES) for _ in range(6_000))
    rows = [{"type": "session", "version": 3, "id": "p", "timestamp": "2026-01-01T10:00:00Z", "cwd": "/w"}]
    for number in range(6):
        call = {
            "type": "toolCall",
            "id": f"t{number}",
            "name": "bash",
            "arguments": {"command": output[number * 3_000 :][:9_000]},
        }
        said = output[number * 1_000 :][:90_000]
        rows += [
            {"type": "message", "id": f"a{number}", "timestamp": "2026-01-01T10:00:01Z",
             "message": {"role": "assistant", "model": "m", "content": [call]}},
            {"type": "message", "id": f"b{number}", "timestamp": "2026-01-01T10:00:02Z",
             "message": {"role": "toolResult", "toolCallId": f"t{number}", "toolName": "bash", "content": [{"type": "text", "text": said}]}},
        ]  # fmt: skip
    path = tmp_path / "pi.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    assert assert_comes_back(path, tmp_path, monkeypatch) == 1


@pytest.mark.skipif(not REAL_FILES, reason="real files of others are not here")
@pytest.mark.parametrize("path", REAL_FILES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_own_exports_of_real_sessions_come_back_event_for_event(path, tmp_path, monkeypatch):
    assert_comes_back(path, tmp_path, monkeypatch)
